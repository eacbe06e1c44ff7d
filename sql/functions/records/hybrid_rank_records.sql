-- Reciprocal rank fusion of words (text_candidates) and meaning (vector_candidates) for one table: Σ weight / (rrf_k + rank); a half
-- without the row adds nothing. Equal scores are ordered by id, so the same question always gives the same list. Without an embedding: only
-- the text half. 400 rows are ranked for their words, which gives 99 % of the results of ranking all, or more for a longer list.
create or replace function hybrid_rank_records(
  p_table regclass, p_embeddings regclass, query_text text, query_embedding halfvec, match_count int,
  full_text_weight double precision, semantic_weight double precision, rrf_k int, date_from date, date_to date,
  ids text[]
) returns table (
  id text, rank_score double precision, text_rank int, semantic_rank int, text_score double precision, similarity double precision
)
language sql stable
set plan_cache_mode = force_generic_plan  -- also prevents inlining into the caller's statement, which would be planned with it
as $$
  with asked as materialized (
    select weigh_query(array[p_table::text], query_text) as words, nullif(concat_ws(' and ', 't.date >= ' || quote_literal(date_from),
      't.date <= ' || quote_literal(date_to), 't.id = any(' || quote_literal(ids) || ')'), '') as condition
  ), full_text as (
    select t.id, t.text_score, row_number() over (order by t.text_score desc, t.id)::int as rank
    from asked a, text_candidates(p_table, a.words, 2 * match_count, a.condition, greatest(400, 4 * match_count)) t
  ), semantic as (
    select s.id, s.similarity, row_number() over (order by s.similarity desc, s.id)::int as rank
    from asked a, vector_candidates(p_table, p_embeddings, query_embedding, 2 * match_count, a.condition, (a.words).required) s
  )
  select id, coalesce(full_text_weight / (rrf_k + t.rank), 0) + coalesce(semantic_weight / (rrf_k + s.rank), 0),
    t.rank, s.rank, t.text_score, s.similarity
  from full_text t full join semantic s using (id)
  order by 2 desc, id
  limit match_count
$$;
