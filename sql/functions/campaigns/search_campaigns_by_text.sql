-- Campaigns whose copy holds every word of the query (see read_query: quotes, or, -not), by ts_rank_cd, best first. The words
-- themselves are what is asked for, so nothing that lacks one is offered in their place, as text_candidates would; and they are counted.
--
-- `p_filter` is a condition over a row `t` of campaigns, as SQL: only rows that meet it are found. It is made by the service, never
-- taken from a caller's text.
--
-- Of more than p_limit campaigns that an index can tell, so many are given. Of more than max_ranked_words / words, so many are ranked, in the order in
-- which they are stored; the others have the score 0 and stand behind them.
--
-- An index is asked for the words and exclusions for which it has at most max_postings entries to read (bounded_index_query). For
-- the others, and for phrases, at most max_looked_at campaigns are looked at; where there are more, a last row without an id says so.
create or replace function search_campaigns_by_text(p_query text, p_limit int, p_filter text default null)
returns table (id text, score double precision)
language plpgsql stable
set synchronize_seqscans = off
as $$
declare
  max_ranked_words constant int := 2000;
  max_looked_at constant int := 4000;
  max_postings constant float8 := 150000;
  all_words constant tsquery := parsed_query(p_query);
  indexed constant tsquery := bounded_index_query('campaigns', all_words, max_postings);
  can_be_more constant boolean := numnode(indexed) <> numnode(all_words) or all_words::text like '%<%';
  max_ranked constant int := 2 * max_ranked_words / (numnode(all_words) + 1);
begin
  return query execute format('
    select case when m.looked_at <= $3 or not $4 then m.id end,
      case when m.looked_at > $3 and $4 then -1 when m.place <= $5 then ts_rank_cd(m.words, $1) else 0 end::float8
    from (
      select l.*, row_number() over () as place
      from (
        select c.*, row_number() over () as looked_at
        from (
          select t.id, case when not $4 or t.text_search @@ $1 then t.text_search end as words
          from campaigns t
          where t.text_search @@ $2 and %s
          limit case when $4 then $3 + 1 else $6 end
        ) c
      ) l
      where l.words is not null or l.looked_at > $3
      limit case when $4 then $3 + 1 else $6 end
    ) m
    order by 2 desc, 1', coalesce('(' || p_filter || ')', 'true'))
    using all_words, indexed, max_looked_at, can_be_more, max_ranked, p_limit;
end
$$;
