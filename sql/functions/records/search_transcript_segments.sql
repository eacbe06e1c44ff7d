-- Full-text search over transcript segments, which have no vectors; same shape as the hybrid functions.
create or replace function search_transcript_segments(
  query_text text, match_count int, full_text_weight double precision default 1, rrf_k int default 50,
  date_from date default null, date_to date default null,
  ids text[] default null
) returns table (
  id text, rank_score double precision, text_rank int, semantic_rank int, text_score double precision, similarity double precision
)
language sql stable
as $$
  select t.id, full_text_weight / (rrf_k + t.rank), t.rank, null::int, t.text_score, null::double precision
  from (
    select m.id, m.text_score, row_number() over (order by m.text_score desc, m.id)::int as rank
    from rank_record_text('transcript_segments', query_text, match_count, date_from, date_to, ids) m
  ) t
  order by t.rank
$$;
