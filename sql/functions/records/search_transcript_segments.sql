-- Written by tools/generate.py from the types of record.
-- Search by words over transcript segments; see hybrid_rank_records.
create or replace function search_transcript_segments(
  query_text text, match_count int, full_text_weight double precision default 1,
  rrf_k int default 50, date_from date default null, date_to date default null,
  ids text[] default null
) returns table (
  id text, rank_score double precision, text_rank int, semantic_rank int, text_score double precision, similarity double precision
)
language sql stable
as $$
  select * from hybrid_rank_records('transcript_segments', null, query_text, null, match_count,
    full_text_weight, 0, rrf_k, date_from, date_to, ids)
$$;
