-- Reciprocal rank fusion of the two halves for one table: Σ weight / (rrf_k + rank), a half that lacks a row adds nothing.
-- Equal scores are ordered by id, so the same question always gives the same list. Without an embedding: the text half alone.
create or replace function hybrid_rank_records(
  p_table regclass, p_embeddings regclass, query_text text, query_embedding halfvec, match_count int,
  full_text_weight double precision, semantic_weight double precision, rrf_k int, date_from date, date_to date,
  ids text[]
) returns table (
  id text, rank_score double precision, text_rank int, semantic_rank int, text_score double precision, similarity double precision
)
language sql stable
as $$
  with full_text as (
    select t.id, t.text_score, row_number() over (order by t.text_score desc, t.id)::int as rank
    from rank_record_text(p_table, query_text, 2 * match_count, date_from, date_to, ids) t
  ), semantic as (
    select s.id, s.similarity, row_number() over (order by s.similarity desc, s.id)::int as rank
    from rank_record_similarity(p_table, p_embeddings, query_embedding, 2 * match_count, date_from, date_to,
      case when query_text ~ '["-]' then query_requirements(query_text) end, ids) s
  )
  select id, coalesce(full_text_weight / (rrf_k + t.rank), 0) + coalesce(semantic_weight / (rrf_k + s.rank), 0),
    t.rank, s.rank, t.text_score, s.similarity
  from full_text t full join semantic s using (id)
  order by 2 desc, id
  limit match_count
$$;
