-- Companies by meaning and words, best first:
--
--   combined = w1 · semantic + w2 · keyword + w3 · niche,   for companies with semantic >= p_min_semantic
--
-- where semantic is the cosine similarity of the nearest window of the company's searchable profile, keyword the ts_rank of its weighted
-- texts and niche that of its niches, both for the whole query (see read_query). Equal scores are ordered by id. `matched_fields` names the
-- signals above 0; ts_rank gives 1e-20 to a row that does not match. Without p_statuses: companies of every status. Without an embedding:
-- no rows, since nothing is similar to it.
--
-- `p_filter` is an SQL condition on a row `t` of companies: only rows that meet it are found. It is built by the service, never taken from
-- a caller's text. p_fitting, p_fits_many: see vector_candidates.
--
-- Only some companies are scored: those nearest in meaning (vector_candidates), and those that contain the query's rare words, or pairs of
-- the others (candidate_queries), since the formula ranks them, not BM25. A company that is not among the nearest has at most the
-- similarity of the last of these, so it is only compared if it could still reach the list. Of the companies with the words, at most
-- max_read are checked against the other conditions, and 1,000 are ranked, or max_ranked_words / words for a query of many words.
create or replace function search_companies_hybrid_v1(
  p_query_text text, p_query_embedding halfvec, p_statuses text[] default array['startup'], p_include_ids text[] default null,
  p_exclude_ids text[] default '{}', p_limit int default 120, p_min_semantic double precision default 0.25,
  p_weights double precision[] default array[0.58, 0.27, 0.15], p_filter text default null,
  p_fitting text[] default null, p_fits_many boolean default false
) returns table (
  company_id text, semantic_score double precision, keyword_score double precision, niche_score double precision,
  combined_score double precision, matched_fields text[]
)
language plpgsql stable
set enable_seqscan = off  -- the planner assumes unknown words are common enough to find by reading the table up to the limit
set enable_bitmapscan = on
set synchronize_seqscans = off
as $$
declare
  no_match constant float8 := 1e-15;
  max_read constant int := 8000;
  max_ranked_words constant int := 6000;
  among constant text := coalesce('and ' || company_condition(null, p_include_ids, null, null), '');
  condition constant text := company_condition(p_statuses, p_include_ids, p_exclude_ids, p_filter);
  max_words constant int := 16;  -- words of the whole query, see read_query
  asked constant record := read_query(coalesce(p_query_text, ''));
  -- most rows with the query's words to rank
  max_worded constant int := least(1000, max_ranked_words / greatest(1, least(max_words, cardinality(asked.words))));
  gathered tsquery[];
  words tsquery;
  reads boolean;
begin
  if p_query_embedding is null or coalesce(p_limit, 0) < 1 then
    return;
  end if;
  gathered := candidate_queries('companies', asked.words[:max_words], max_worded);
  words := coalesce(gathered[1], '') || coalesce(gathered[3], '') || coalesce(gathered[4], '');
  reads := p_include_ids is null and gathered[1] is null and favors_seq_scan('companies', array(
    select w.word from unnest(asked.words[:max_words]) w (word) left join lexeme_counts c on c.lexeme = w.word and c.of_table = 'companies'
    order by c.rows nulls first limit 2), case when condition is null then max_worded else max_read end);
  -- not the planner's choice; for this call only: the function's own settings are restored after it
  perform set_config('enable_seqscan', reads::text, true), set_config('enable_bitmapscan', (not reads)::text, true);

  return query execute format('
  with nearest as materialized (
    select v.id, v.similarity
    from vector_candidates(''companies'', ''company_embeddings'', $1, $9, $5, p_embedding_type => ''searchable_profile'', p_fitting => $8, p_fits_many => $10) v
  ), ranked as materialized (
    select f.id, f.similarity, r.*, $7[2] * r.keyword + $7[3] * r.niche as by_words
    from (
      select t.id, n.similarity, t.text_search, t.niches_search from nearest n join companies t using (id)
      union all
      (select t.id, null, t.text_search, t.niches_search from (select t.* from companies t where t.text_search @@ $3 %4$s limit %5$s) t
       where not t.id in (select n.id from nearest n) %1$s limit %2$s)
    ) f, lateral (
      select ts_rank(f.text_search, $2)::float8 as keyword, ts_rank(f.niches_search, $2)::float8 as niche offset 0) r
  ), reach as materialized (
    select min(r.similarity) as farthest, (
      select $7[1] * n.similarity + n.by_words from ranked n where n.similarity >= $6 order by 1 desc offset $4 - 1 limit 1) as last_score
    from ranked r
  ), scored as (
    select r.id, s.semantic, case when r.keyword > %3$s then r.keyword else 0 end as keyword,
      case when r.niche > %3$s then r.niche else 0 end as niche
    from reach c, ranked r, lateral (select coalesce(r.similarity, (
      select 1 - min(e.embedding <=> $1) from company_embeddings e
      where e.record_id = r.id and e.embedding_type = ''searchable_profile'')) as semantic offset 0) s
    where (r.similarity is not null or c.last_score is null or $7[1] * c.farthest + r.by_words >= c.last_score) and s.semantic >= $6
  )
  select s.id, s.semantic, s.keyword, s.niche, $7[1] * s.semantic + $7[2] * s.keyword + $7[3] * s.niche,
    array_remove(array[case when s.semantic > 0 then ''semantic'' end, case when s.keyword > 0 then ''keyword'' end,
      case when s.niche > 0 then ''niche'' end], null)
  from scored s
  order by 5 desc, 1
  limit $4', ' and (' || condition || ')', max_worded, no_match, among, max_read)
    using p_query_embedding, asked.all_words, words, p_limit, condition, p_min_semantic, p_weights, p_fitting,
      -- half as far past rows that do not meet the filters
      case when p_fits_many then p_limit else 2 * p_limit end, p_fits_many;
end
$$;
