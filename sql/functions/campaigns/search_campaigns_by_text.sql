-- Campaigns whose copy holds every word of the query (as websearch_to_tsquery reads it: quotes, or, -not), among those that pass
-- the filters of filter_campaigns, by ts_rank_cd, best first. The words themselves are what is asked for, so nothing that lacks one
-- is offered in their place.
create or replace function search_campaigns_by_text(
  p_query text, p_channels text[] default null, p_companies text[] default null, p_brands text[] default null,
  p_value_props text[] default null, p_sentiments text[] default null, p_visual_styles text[] default null,
  p_also_value_props text[] default null, p_offers text[] default null, p_has_offer boolean default null, p_from date default null, p_to date default null
) returns table (id text, score double precision)
language sql stable
as $$
  select c.id, ts_rank_cd(c.text_search, q.words)::float8 as score
  from parsed_query(p_query) q (words),
    filter_campaigns(
      p_channels, p_companies, p_brands, p_value_props, p_sentiments, p_visual_styles, p_also_value_props, p_offers, p_has_offer, p_from, p_to) c
  where c.text_search @@ q.words
  order by score desc, c.id
$$;
