-- The campaigns that pass every filter (see passing_campaigns), latest first. Inlined like that function.
create or replace function filter_campaigns(
  p_channels text[] default null, p_companies text[] default null, p_brands text[] default null,
  p_value_props text[] default null, p_sentiments text[] default null, p_visual_styles text[] default null,
  p_also_value_props text[] default null, p_offers text[] default null, p_has_offer boolean default null, p_from date default null, p_to date default null
) returns setof campaigns
language sql stable
as $$
  select c.* from passing_campaigns(
    p_channels, p_companies, p_brands, p_value_props, p_sentiments, p_visual_styles, p_also_value_props, p_offers, p_has_offer, p_from, p_to) c
  order by c.capture_date desc nulls last, c.id
$$;
