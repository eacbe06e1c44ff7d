-- An actor's entities among those given by (type, id), for a query's words: titles, snippets and projects as in onto_search_entities.
-- Ordered by: all words contained, number of preferred conditions met (p_preferred), score, given order. Exclusions are left out; without
-- words, all are matches. `total` counts the matches.
create or replace function onto_filtered_entities(
  p_actor_id text, p_query text, p_project_id text, p_types text[], p_ids text[], p_preferred int[], p_limit int default 50
) returns table (
  type text, id text, project_id text, project_name text, title text, snippet text, score double precision, is_match boolean, total bigint
)
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  page_size constant int := least(p_limit, 50);
  asked constant record := read_query(p_query);
  spelt constant text := spelt_query(p_query);
  any_word constant tsquery := coalesce((select string_agg(quote_literal(w.word), ' | ') from unnest(asked.words[:16]) w (word)), '')::tsquery;
  page record;
begin
  select array_agg(r.type) as types, array_agg(r.id) as ids, array_agg(r.score) as scores, array_agg(r.is_match) as matches, max(r.found) as total
  into page
  from (
    select m.*, count(*) filter (where m.is_match) over () as found
    from (
      select e.type, e.id, k.place, k.preferred, numnode(asked.all_words) = 0 or e.search_vector @@ asked.all_words as is_match,
        (ts_rank(e.search_vector, any_word) * 0.6 + coalesce(similarity(e.title, spelt), 0) * 0.4)::float8 as score
      from unnest(p_types, p_ids, p_preferred) with ordinality k (type, id, preferred, place)
      join onto_search_entries e using (type, id)
      where e.created_by = p_actor_id and (p_project_id is null or e.project_id = p_project_id)
        and (numnode(asked.excluded) = 0 or e.search_vector @@ asked.excluded)
    ) m
    order by m.is_match desc, m.preferred desc, m.score desc, m.place
    limit page_size
  ) r;
  return query
    select d.type, d.id, d.project_id, d.project_name, d.title, d.snippet, page.scores[d.place], page.matches[d.place], page.total
    from describe_onto_entities(p_actor_id, page.types, page.ids, asked.words) d
    order by d.place;
end
$$;
