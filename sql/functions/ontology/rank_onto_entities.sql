-- The ranking half of onto_search_entities: keys and scores of an actor's entities, the `complete` ones first, each kind best first
-- and at most p_limit of it. `found` counts the kind before that limit.
--
-- score = 0.6 · ts_rank + 0.4 · trigram similarity of title and query, for every row. `complete` rows hold every word (as
-- websearch_to_tsquery reads the query: quotes, or, -not) or have a title that is similar to the query.
--
-- Where these are fewer than few_matches, the nearest others follow: rows with some of the words and, for a short query, rows with
-- a passage that is spelt like it. What the query excludes (-word) or quotes ("a phrase") still holds. Of the nearest, those
-- with most of the words are scored, max_nearest of them.
create or replace function rank_onto_entities(
  p_actor_id text, p_query text, p_project_id text, p_types text[], p_limit int
) returns table (type text, id text, score double precision, complete boolean, found bigint)
language plpgsql stable
set pg_trgm.similarity_threshold = 0.3
set pg_trgm.word_similarity_threshold = 0.6
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  few_matches constant int := 5;
  max_nearest constant int := 200;
  short_query constant int := 3;  -- words that carry meaning
  wanted constant text := regexp_replace(p_query, '(^|\s)-("[^"]*"?|\S+)', ' ', 'g');
  words constant text[] := tsvector_to_array(to_tsvector('english', wanted));
  all_words constant tsquery := websearch_to_tsquery('english', p_query);
  some_words constant tsquery := (select string_agg(quote_literal(w.word), ' | ') from unnest(words) w (word))::tsquery;
  spelling constant text := case when cardinality(words) <= short_query then wanted end;
  required constant tsquery := query_requirements(p_query);
  matches int;
begin
  if numnode(all_words) = 0 and show_trgm(p_query) = '{}'
    or p_project_id is not null and not exists (select from onto_projects p where p.id = p_project_id and p.created_by = p_actor_id) then
    return;
  end if;

  return query
    select e.type, e.id, (ts_rank(e.search_vector, all_words) * 0.6 + similarity(e.title, p_query) * 0.4)::float8, true, count(*) over ()
    from onto_search_entries e
    where e.created_by = p_actor_id and (e.search_vector @@ all_words or e.title % p_query)
      and (p_project_id is null or e.project_id = p_project_id) and (p_types is null or e.type = any(p_types))
    order by 3 desc, 1, 2
    limit p_limit;
  get diagnostics matches = row_count;
  if matches >= few_matches then
    return;
  end if;

  return query
    select n.type, n.id, (ts_rank(n.search_vector, all_words) * 0.6 + similarity(n.title, p_query) * 0.4)::float8, false, n.found
    from (
      select e.type, e.id, e.title, e.search_vector, count(*) over () as found
      from onto_search_entries e
      where e.created_by = p_actor_id and (e.search_vector @@ some_words or spelling <% e.title or spelling <% e.readable_text)
        and not (e.search_vector @@ all_words or e.title % p_query) and (numnode(required) = 0 or e.search_vector @@ required)
        and (p_project_id is null or e.project_id = p_project_id) and (p_types is null or e.type = any(p_types))
      order by coalesce(ts_rank(e.search_vector, some_words), 0) + coalesce(word_similarity(spelling, e.title), 0) desc, e.type, e.id
      limit max_nearest
    ) n
    order by 3 desc, 1, 2
    limit p_limit;
end
$$;
