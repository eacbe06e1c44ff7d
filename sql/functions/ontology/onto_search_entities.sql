-- An actor's entities for a query, over all types, best first; with titles, snippets and the names of the actor's own projects. Null types
-- mean all; another user's project is empty; at most 50 rows. `total` counts all matches, but not near entities, whose `is_match` is false:
-- these are shown if there are fewer than p_few_matches matches. With `more`, `total` is a lower bound.
--
-- The rows are ranked among the actor's own entries. Their details are read again behind the policies of describe_onto_entities, so that a
-- fault in one of the two shows nobody's rows to another.
create or replace function onto_search_entities(
  p_actor_id text, p_query text, p_project_id text default null, p_types text[] default null, p_limit int default 50,
  p_few_matches int default 5
) returns table (
  type text, id text, project_id text, project_name text, title text, snippet text, score double precision, is_match boolean, total bigint, more boolean
)
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  page_size constant int := least(p_limit, 50);
  page record;
begin
  select array_agg(r.type) as types, array_agg(r.id) as ids, array_agg(r.score) as scores, array_agg(r.is_match) as matches,
    max(r.found) as total, bool_or(r.more) as more,
    coalesce(max(r.words) filter (where not r.is_match), max(r.words)) as words
  into page
  from (select * from rank_onto_entities(p_actor_id, p_query, p_project_id, p_types, page_size, p_few_matches) r order by r.score desc, r.is_match desc, r.type, r.id) r;
  return query
    select d.type, d.id, d.project_id, d.project_name, d.title, d.snippet, page.scores[d.place], page.matches[d.place],
      page.total, page.more
    from describe_onto_entities(p_actor_id, page.types[:page_size], page.ids[:page_size], page.words) d
    order by d.place;
end
$$;
