-- Campaigns whose copy holds every word of the query (see read_query: quotes, or, -not), by ts_rank_cd, best first; of p_ids alone,
-- or of all where that is null. The words themselves are what is asked for, so nothing that lacks one is offered in their place.
--
-- Of more than p_limit campaigns, so many are given. Of more than max_ranked_words / words, so many are ranked, in the order in
-- which they are stored; the others have the score 0 and stand behind them.
--
-- An index is asked for the words and exclusions for which it has at most max_postings entries to read (bounded_index_query). For
-- the others, and for phrases, at most max_looked_at campaigns are looked at; where there are more, a last row without an id says so.
create or replace function search_campaigns_by_text(p_query text, p_limit int, p_ids text[] default null)
returns table (id text, score double precision)
language plpgsql stable
set synchronize_seqscans = off
set plan_cache_mode = force_custom_plan
as $$
declare
  max_ranked_words constant int := 2000;
  max_looked_at constant int := 6000;
  max_postings constant float8 := 150000;
  all_words constant tsquery := parsed_query(p_query);
  indexed constant tsquery := bounded_index_query('campaigns', all_words, max_postings);
  can_be_more constant boolean := numnode(indexed) <> numnode(all_words) or all_words::text like '%<%';
  max_ranked constant int := 2 * max_ranked_words / (numnode(all_words) + 1);
begin
  return query
    select case when m.looked_at <= max_looked_at or not can_be_more then m.id end,
      case when m.looked_at > max_looked_at and can_be_more then -1 when m.place <= max_ranked then ts_rank_cd(m.words, all_words) else 0 end::float8
    from (
      select l.*, row_number() over () as place
      from (
        select c.*, row_number() over () as looked_at
        from (
          select c.id, case when not can_be_more or c.text_search @@ all_words then c.text_search end as words
          from campaigns c
          where c.text_search @@ indexed and (p_ids is null or c.id = any(p_ids))
          limit case when can_be_more then max_looked_at + 1 else p_limit end
        ) c
      ) l
      where l.words is not null or l.looked_at > max_looked_at
      limit p_limit
    ) m
    order by 2 desc, 1;
end
$$;
