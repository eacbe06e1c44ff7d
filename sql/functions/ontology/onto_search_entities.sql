-- An actor's entities for a query, over all types, best first; with titles, snippets and the names of the actor's own projects.
-- Types are null for all; a project that is not the actor's holds nothing; at most 50 rows. `total` counts all that were found,
-- `complete` says of a row that it is a match and not merely near (rank_onto_entities).
--
-- The rows are ranked among the actor's own entries; what is told of them is read again behind the policies of
-- describe_onto_entities, so that a fault in one of the two shows nobody's rows to another.
create or replace function onto_search_entities(
  p_actor_id text, p_query text, p_project_id text default null, p_types text[] default null, p_limit int default 50
) returns table (
  type text, id text, project_id text, project_name text, title text, snippet text, score double precision, complete boolean, total bigint
)
language sql
as $$
  with ranked as materialized (
    select r.*, row_number() over (order by r.score desc, r.complete desc, r.type, r.id) as place
    from rank_onto_entities(p_actor_id, p_query, p_project_id, p_types, least(p_limit, 50)) r
  ), page as materialized (
    select array_agg(r.type order by r.place) as types, array_agg(r.id order by r.place) as ids,
      coalesce(max(r.found) filter (where r.complete), 0) + coalesce(max(r.found) filter (where not r.complete), 0) as total
    from ranked r
  )
  select d.type, d.id, d.project_id, d.project_name, d.title, d.snippet, r.score, r.complete, p.total
  from page p, describe_onto_entities(p_actor_id, p.types[:least(p_limit, 50)], p.ids[:least(p_limit, 50)], p_query) d
  join ranked r on r.type = d.type and r.id = d.id
  order by r.place
$$;
