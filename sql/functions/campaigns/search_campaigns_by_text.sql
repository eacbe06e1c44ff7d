-- Campaigns whose copy contains every word of the query (see read_query: quotes, or, -not), ranked by ts_rank_cd, best first, with their
-- number. The query asks for these words, so campaigns without one are not offered instead, as text_candidates would.
--
-- p_filter is a condition in SQL on the campaigns, `t`; null keeps all.
--
-- `total` is exact up to p_total_max; `more`: there are or may be more. At most p_limit of these are returned, the first as stored. Of
-- them, max_ranked_words / words are ranked; the others have score 0 and follow.
--
-- Words and exclusions are looked up in an index if that reads at most max_postings entries (bounded_index_query). For the others, and for
-- phrases, at most max_looked_at campaigns are checked. If the index would read more entries than there are campaigns to read until enough
-- are found, the table is read instead; for alternatives this is possible too.
create or replace function search_campaigns_by_text(
  p_query text, p_limit int, p_total_max int default 10000, p_filter text default null
) returns table (id text, score double precision, total int, more boolean)
language plpgsql stable
set enable_seqscan = on
set synchronize_seqscans = off
as $$
declare
  max_ranked_words constant int := 2000;
  max_looked_at constant int := 4000;
  max_postings constant float8 := 150000;
  asked constant record := read_query(p_query);
  indexed constant tsquery := bounded_index_query('campaigns', asked.all_words, max_postings);
  is_tested constant boolean := numnode(indexed) <> numnode(asked.all_words) or asked.all_words::text like '%<%';
  max_ranked constant int := least(p_limit, 2 * max_ranked_words / (numnode(asked.all_words) + 1));
  max_read constant int := case when is_tested then max_looked_at else p_total_max end;
  held tid[];
begin
  -- the planner underestimates the cost of searching texts row by row; for this call only: the function's own setting is
  -- restored after it
  perform set_config('enable_seqscan', (asked.all_words::text like '%|%'
    or p_filter is null and asked.all_words::text not like '%!%' and favors_seq_scan('campaigns', asked.words, max_read))::text, true);
  -- one read: within a snapshot, the physical position identifies a row
  execute format('
    select array_remove((array_agg(t.place))[:$3], null), count(*) > $3
    from (select %s as place from campaigns t where t.text_search @@ $2 and %s limit $3 + 1) t',
    case when is_tested then 'case when t.text_search @@ $1 then t.ctid end' else 't.ctid' end, coalesce('(' || p_filter || ')', 'true'))
    into held, more using asked.all_words, indexed, max_read;
  total := cardinality(held);
  return query
    select c.id, c.score, total, more
    from (
      select t.id, ts_rank_cd(t.text_search, asked.all_words)::float8 as score from campaigns t where t.ctid = any(held[:max_ranked])
      union all
      select t.id, 0 from campaigns t where t.ctid = any(held[max_ranked + 1:p_limit])
    ) c
    order by 2 desc, 1;
end
$$;
