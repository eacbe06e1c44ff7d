-- The campaigns that pass every filter, in no order. A null filters nothing; of several values of one filter, any suffices. Dates
-- are inclusive. p_also_value_props is a second list of which any must do as well; of p_offers, the offer contains every text,
-- whatever its case.
--
-- A filter that is null is folded away when the query is planned, which happens in the caller: the function is inlined.
create or replace function passing_campaigns(
  p_channels text[] default null, p_companies text[] default null, p_brands text[] default null,
  p_value_props text[] default null, p_sentiments text[] default null, p_visual_styles text[] default null,
  p_also_value_props text[] default null, p_offers text[] default null, p_has_offer boolean default null, p_from date default null, p_to date default null
) returns setof campaigns
language sql stable
as $$
  select c.* from campaigns c
  where (p_channels is null or c.channel = any(p_channels))
    and (p_companies is null or c.company = any(p_companies))
    and (p_brands is null or c.brand = any(p_brands))
    and (p_value_props is null or c.key_value_props && p_value_props)
    and (p_sentiments is null or c.imagery_sentiment = any(p_sentiments))
    and (p_visual_styles is null or c.imagery_visual_style = any(p_visual_styles))
    and (p_also_value_props is null or c.key_value_props && p_also_value_props)
    and (p_offers is null or (c.offer is not null and not exists (
      select from unnest(p_offers) o (part) where strpos(lower(c.offer), lower(o.part)) = 0)))
    and (p_has_offer is null or (c.offer is not null) = p_has_offer)
    and (p_from is null or c.capture_date >= p_from)
    and (p_to is null or c.capture_date <= p_to)
$$;
