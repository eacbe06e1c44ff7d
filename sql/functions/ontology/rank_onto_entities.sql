-- The ranking half of onto_search_entities: keys and scores of an actor's entities, the matches first, each kind best first and at
-- most p_limit of it. `found` counts the matches before that limit; `words` are the lexemes that were looked for.
--
-- What matches and its score are fixed, so text_candidates does not serve, whose rows hold some of the words, ranked by BM25:
-- score = 0.6 · ts_rank + 0.4 · trigram similarity of title and query, for every row. A match holds every word (see read_query:
-- quotes, or, -not) or has a title that is similar to the query. Where there are fewer than p_few_matches, the nearest others
-- fill the page up to filled_page (nearest_onto_entities).
--
-- Of more than max_matches rows with the words (max_looked_at where the query has phrases or exclusions), so many are looked at and
-- counted, in the order in which they are stored, and of those that match max_ranked_words / words are ranked. Titles are compared
-- with the beginning of a query, and with none that is too long for a title (spelt_query).
create or replace function rank_onto_entities(
  p_actor_id text, p_query text, p_project_id text, p_types text[], p_limit int, p_few_matches int
) returns table (type text, id text, score double precision, is_match boolean, found bigint, words text[])
language plpgsql stable
set pg_trgm.similarity_threshold = 0.3
set synchronize_seqscans = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  filled_page constant int := 10;
  max_matches constant int := 2500;
  max_looked_at constant int := 1000;  -- where phrases and exclusions are to be looked for in the rows themselves
  max_ranked_words constant int := 2000;
  asked constant record := read_query(p_query);
  spelt constant text := spelt_query(p_query);
  indexed constant tsquery := index_query(asked.all_words);
  max_ranked constant int := max_ranked_words / greatest(1, cardinality(asked.words));
  matches int;
begin
  if numnode(asked.all_words) = 0 and spelt is null
    or p_project_id is not null and not exists (select from onto_projects p where p.id = p_project_id and p.created_by = p_actor_id) then
    return;
  end if;
  return query
    select m.type, m.id, (ts_rank(m.search_vector, asked.all_words) * 0.6 + coalesce(similarity(m.title, spelt), 0) * 0.4)::float8, true,
      m.found, asked.words
    from (
      select m.*, count(*) over () as found, row_number() over () as place
      from (
        select e.type, e.id, e.search_vector, e.title
        from onto_search_entries e
        where e.created_by = p_actor_id and (e.search_vector @@ indexed or e.title % spelt)
          and (p_project_id is null or e.project_id = p_project_id) and (p_types is null or e.type = any(p_types))
        limit case when indexed::text = asked.all_words::text then max_matches else max_looked_at end
      ) m
      where m.search_vector @@ asked.all_words or m.title % spelt
    ) m
    where m.place <= max_ranked
    order by 3 desc, 1, 2
    limit p_limit;
  get diagnostics matches = row_count;
  if matches < p_few_matches then
    return query
      select n.type, n.id, n.score, false, 0::bigint, n.words
      from nearest_onto_entities(
        p_actor_id, asked.all_words, asked.required, asked.words, spelt, p_project_id, p_types, least(p_limit, filled_page) - matches) n;
  end if;
end
$$;
