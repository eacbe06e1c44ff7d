-- Hybrid search over transcript segments; see hybrid_rank_records.
create or replace function hybrid_search_transcript_segments(
  query_text text, query_embedding halfvec, match_count int, full_text_weight double precision default 1,
  semantic_weight double precision default 1, rrf_k int default 50, date_from date default null, date_to date default null,
  ids text[] default null
) returns table (
  id text, rank_score double precision, text_rank int, semantic_rank int, text_score double precision, similarity double precision
)
language sql stable
as $$
  select * from hybrid_rank_records('transcript_segments', 'transcript_segment_embeddings', query_text, query_embedding, match_count,
    full_text_weight, semantic_weight, rrf_k, date_from, date_to, ids)
$$;
