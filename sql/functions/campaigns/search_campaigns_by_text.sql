-- Campaigns whose copy holds every word of the query (see read_query: quotes, or, -not), by ts_rank_cd, best first; of p_ids alone,
-- or of all where that is null. The words themselves are what is asked for, so nothing that lacks one is offered in their place.
--
-- Of more than p_limit campaigns, so many are given. Of more than max_ranked_words / words, so many are ranked, in the order in
-- which they are stored; the others have the score 0 and stand behind them.
--
-- Of phrases an index knows the words alone. Of the campaigns that hold these at most max_looked_at are looked at; where there are
-- more, a last row without an id says so. An exclusion is known to the index, unless it is of a phrase.
create or replace function search_campaigns_by_text(p_query text, p_limit int, p_ids text[] default null)
returns table (id text, score double precision)
language plpgsql stable
set synchronize_seqscans = off
set plan_cache_mode = force_custom_plan
as $$
declare
  max_ranked_words constant int := 2000;
  max_looked_at constant int := 8000;
  all_words constant tsquery := parsed_query(p_query);
  indexed constant tsquery := case when all_words::text like '%!%' then all_words else index_query(all_words) end;
  max_ranked constant int := 2 * max_ranked_words / (numnode(all_words) + 1);
begin
  return query
    select case when m.looked_at <= max_looked_at then m.id end,
      case when m.looked_at > max_looked_at then -1 when m.place <= max_ranked then ts_rank_cd(m.text_search, all_words) else 0 end::float8
    from (
      select c.*, row_number() over () as place
      from (
        select c.id, c.text_search, row_number() over () as looked_at
        from campaigns c
        where c.text_search @@ indexed and (p_ids is null or c.id = any(p_ids))
        limit max_looked_at + 1
      ) c
      where c.text_search @@ all_words or c.looked_at > max_looked_at
      limit p_limit
    ) m
    order by 2 desc, 1;
end
$$;
