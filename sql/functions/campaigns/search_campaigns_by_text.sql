-- Campaigns whose copy holds every word of the query (see read_query: quotes, or, -not), by ts_rank_cd, best first; of p_ids alone,
-- or of all where that is null. The words themselves are what is asked for, so nothing that lacks one is offered in their place.
--
-- Of more than p_limit campaigns, so many are given. Of more than max_ranked_words / words, so many are ranked, in the order in
-- which they are stored; the others have the score 0 and stand behind them.
create or replace function search_campaigns_by_text(p_query text, p_limit int, p_ids text[] default null)
returns table (id text, score double precision)
language plpgsql stable
set synchronize_seqscans = off
set plan_cache_mode = force_custom_plan
as $$
declare
  max_ranked_words constant int := 4000;
  all_words constant tsquery := parsed_query(p_query);
  max_ranked constant int := 2 * max_ranked_words / (numnode(all_words) + 1);
begin
  return query
    select m.id, case when m.place <= max_ranked then ts_rank_cd(m.text_search, all_words) else 0 end::float8 as score
    from (
      select c.id, c.text_search, row_number() over () as place
      from campaigns c
      where c.text_search @@ all_words and (p_ids is null or c.id = any(p_ids))
      limit p_limit
    ) m
    order by 2 desc, 1;
end
$$;
