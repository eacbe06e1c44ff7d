-- An actor's entities that do not match a query (p_asked, p_spelt; see rank_onto_entities) but are near it: rows with two of its words,
-- p_words; rows with one if it has no more than two words, or if no row contains two. Short queries may be misspelled: a word in no row is
-- replaced by similar words (onto_words_like), and a title with a passage similar to the query is near. Exclusions (-word) still apply, and
-- quoted phrases ("a phrase"), p_required, if any near row contains them; otherwise only p_excluded.
--
-- The choice of words depends only on the actor's rows and the query, not on lexeme_counts (candidate_queries, weigh_query): those count
-- the rows of all owners, and results must not reveal another's words.
--
-- At most max_candidates rows are considered, and max_scored of them, those with most words, are scored. `words` are the words looked for.
create or replace function nearest_onto_entities(
  p_actor_id text, p_asked tsquery, p_required tsquery, p_excluded tsquery, p_words text[], p_spelt text, p_project_id text,
  p_types text[], p_limit int
) returns table (type text, id text, score double precision, words text[])
language plpgsql stable
set pg_trgm.similarity_threshold = 0.3
set pg_trgm.word_similarity_threshold = 0.6
set synchronize_seqscans = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  max_candidates constant int := 2000;
  max_scored constant int := 200;
  short_query constant int := 3;  -- words
  max_words constant int := 8;  -- the longest, which are the most specific
  is_short constant boolean := cardinality(p_words) between 1 and short_query;
  spelling constant text := case when is_short then p_spelt end;
  wanted text[] := array(select w.word from unnest(p_words) w (word) order by length(w.word) desc, w.word limit max_words);
  required tsquery;
  some_words tsquery;
begin
  if is_short then
    wanted := wanted || onto_words_like(p_actor_id, p_words);
  end if;
  for required, some_words in
    select r.required, s.some_words
    from unnest(array[p_required, case when p_excluded::text <> p_required::text then p_excluded end]) with ordinality r (required, place), (
      -- two of the words: of two places one has a bit that the other lacks; so an index reads each word once for a bit, not for a pair
      select 2 as words, string_agg(format('(%s) & (%s)', b.without, b.having_it), ' | ')::tsquery
      from generate_series(0, 9) bit, lateral (
        select string_agg(quote_literal(w.word), ' | ') filter (where w.place >> bit & 1 = 0) as without,
          string_agg(quote_literal(w.word), ' | ') filter (where w.place >> bit & 1 = 1) as having_it
        from (select word, dense_rank() over (order by word)::int as place from unnest(wanted) word) w
      ) b
      where b.without is not null and b.having_it is not null
      having cardinality(p_words) > 2
      union all
      select 1, string_agg(quote_literal(w.word), ' | ')::tsquery from unnest(wanted) w (word)
    ) s (words, some_words)
    where r.required is not null
    order by r.place, s.words desc
  loop
    return query
      select c.type, c.id, (ts_rank(c.search_vector, p_asked) * 0.6 + coalesce(similarity(c.title, p_spelt), 0) * 0.4)::float8, wanted
      from (
        select e.* from (
          select e.type, e.id, e.title, e.search_vector
          from onto_search_entries e
          where e.created_by = p_actor_id and (e.search_vector @@ some_words or spelling <% e.title)
            and (numnode(required) = 0 or e.search_vector @@ required)
            and (p_project_id is null or e.project_id = p_project_id) and (p_types is null or e.type = any(p_types))
          limit max_candidates
        ) e
        order by coalesce(ts_rank(e.search_vector, some_words), 0) + coalesce(word_similarity(spelling, e.title), 0) desc, e.type, e.id
        limit max_scored
      ) c
      where not (c.search_vector @@ p_asked or coalesce(c.title % p_spelt, false))
      order by 3 desc, 1, 2
      limit p_limit;
    exit when found;
  end loop;
end
$$;
