-- The ranking half of onto_search_entities: keys and scores of an actor's entities, matches first, each group best first with at most
-- p_limit rows. `found` counts the matches before that limit, exactly up to max_counted or, if an index cannot decide which rows match,
-- among those that are checked; `more`: there may be more than these. `words` are the lexemes that were looked for.
--
-- Matches and scores are fixed, so text_candidates, which returns rows with some of the words ranked by BM25, cannot be used: score = 0.6 ·
-- ts_rank + 0.4 · trigram similarity of title and query, for every row. A match contains every word (see read_query: quotes, or, -not) or
-- has a title similar to the query, and nothing excluded. If there are fewer than p_few_matches, the nearest others fill the page up to
-- filled_page (nearest_onto_entities).
--
-- Of more than max_looked_at rows with the words, this many are checked, in the order stored, and max_ranked_words / words of the matches
-- are ranked. Titles are compared with the beginning of a query, unless it is too long for a title (spelt_query).
create or replace function rank_onto_entities(
  p_actor_id text, p_query text, p_project_id text, p_types text[], p_limit int, p_few_matches int
) returns table (type text, id text, score double precision, is_match boolean, found bigint, more boolean, words text[])
language plpgsql stable
set pg_trgm.similarity_threshold = 0.3
set synchronize_seqscans = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  filled_page constant int := 10;
  max_ranked_words constant int := 2000;
  max_counted constant int := 10000;
  asked constant record := read_query(p_query);
  spelt constant text := spelt_query(p_query);
  indexed constant tsquery := index_query(asked.all_words);
  is_indexed constant boolean := indexed::text = asked.all_words::text;  -- otherwise phrases and exclusions are checked in the rows
  max_looked_at constant int := case when is_indexed then 2500 else 3000 end;
  max_ranked constant int := max_ranked_words / greatest(1, cardinality(asked.words));
  matches int;
begin
  if numnode(asked.all_words) = 0 and spelt is null
    or p_project_id is not null and not exists (select from onto_projects p where p.id = p_project_id and p.created_by = p_actor_id) then
    return;
  end if;
  return query
    with counted as materialized (  -- if there are too many to check
      select count_matches('onto_search_entries', concat_ws(' and ',
        format('t.created_by = %L and (t.search_vector @@ %L or t.title %% %L)', p_actor_id, indexed, spelt),
        't.project_id = ' || quote_literal(p_project_id), 't.type = any(' || quote_literal(p_types) || ')'), max_counted) as matches
      where is_indexed
    )
    select m.type, m.id, (ts_rank(m.words, asked.all_words) * 0.6 + coalesce(similarity(m.title, spelt), 0) * 0.4)::float8, true,
      case when m.is_all or not is_indexed then m.found else (select least(c.matches, max_counted) from counted c) end,
      not m.is_all and coalesce((select c.matches > max_counted from counted c), true), asked.words
    from (
      select l.*, count(l.words) over () as found, max(l.looked_at) over () < max_looked_at as is_all, row_number() over () as place
      from (
        select e.type, e.id, e.title, row_number() over () as looked_at,
          case
            when is_indexed or e.search_vector @@ asked.all_words
              or e.title % spelt and (numnode(asked.excluded) = 0 or e.search_vector @@ asked.excluded) then e.search_vector
          end as words
        from (
          select e.type, e.id, e.title, e.search_vector
          from onto_search_entries e
          where e.created_by = p_actor_id and (e.search_vector @@ indexed or e.title % spelt)
            and (p_project_id is null or e.project_id = p_project_id) and (p_types is null or e.type = any(p_types))
          limit max_looked_at
        ) e
      ) l
      where l.words is not null or l.looked_at = max_looked_at
    ) m
    where m.words is not null and m.place <= max_ranked
    order by 3 desc, 1, 2
    limit p_limit;
  get diagnostics matches = row_count;
  if matches < p_few_matches then
    return query
      select n.type, n.id, n.score, false, 0::bigint, false, n.words
      from nearest_onto_entities(
        p_actor_id, asked.all_words, asked.required, asked.excluded, asked.words, spelt, p_project_id, p_types,
        least(p_limit, filled_page) - matches) n;
  end if;
end
$$;
