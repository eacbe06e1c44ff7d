-- Campaigns whose copy holds every word of the query (see read_query: quotes, or, -not), by ts_rank_cd, best first, each with how many
-- there are. The words themselves are what is asked for, so nothing that lacks one is offered in their place, as text_candidates would.
--
-- Only campaigns `t` that meet p_filter are searched, a condition in SQL; null leaves all.
--
-- `total` is exact up to p_total_max; `more`: there are more, or may be. Of these at most p_limit are given, the first that are stored.
-- max_ranked_words / words of them are ranked; the others have the score 0 and stand behind them.
--
-- An index is asked for the words and exclusions for which it has at most max_postings entries to read (bounded_index_query). For
-- the others, and for phrases, at most max_looked_at campaigns are looked at. Where all words are in so many campaigns that the index
-- would read more entries than there are campaigns to read until as many are found, the table is read instead; for alternatives it
-- may be.
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
  -- what a text holds is dearer to look for row by row than the planner knows; for this call only: the function's own setting is
  -- restored behind it
  perform set_config('enable_seqscan', (asked.all_words::text like '%|%'
    or p_filter is null and asked.all_words::text not like '%!%' and favors_seq_scan('campaigns', asked.words, max_read))::text, true);
  -- in one reading: of a snapshot's rows a place is as good as an id
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
