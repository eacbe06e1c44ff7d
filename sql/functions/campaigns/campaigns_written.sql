-- Written by tools/generate.py from the facets of campaigns.
-- Counts what a statement changes in the values by which campaigns are looked up.
create or replace function campaigns_written() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'TRUNCATE' then
    perform refresh_facet_values('campaigns');
  elsif tg_table_name = 'campaigns' and tg_op = 'INSERT' then
    perform change_facet_values(
      'campaigns', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with campaigns as (select 1 as change, n.* from new_rows n) select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, '', v.value from campaigns t, lateral (select distinct a.* from (
        select 'company', t.company
        union all select 'brand', t.brand
        union all select 'channel', t.channel
        union all select 'value_prop', unnest(t.key_value_props)
        union all select 'sentiment', t.imagery_sentiment
        union all select 'visual_style', t.imagery_visual_style
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change);
  elsif tg_table_name = 'campaigns' and tg_op = 'UPDATE' then
    perform change_facet_values(
      'campaigns', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with campaigns as (select 1 as change, n.* from (select brand, channel, company, id, imagery_sentiment, imagery_visual_style, key_value_props from new_rows except all select brand, channel, company, id, imagery_sentiment, imagery_visual_style, key_value_props from old_rows) n
      union all select -1, o.* from (select brand, channel, company, id, imagery_sentiment, imagery_visual_style, key_value_props from old_rows except all select brand, channel, company, id, imagery_sentiment, imagery_visual_style, key_value_props from new_rows) o)
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, '', v.value from campaigns t, lateral (select distinct a.* from (
        select 'company', t.company
        union all select 'brand', t.brand
        union all select 'channel', t.channel
        union all select 'value_prop', unnest(t.key_value_props)
        union all select 'sentiment', t.imagery_sentiment
        union all select 'visual_style', t.imagery_visual_style
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change);
  elsif tg_table_name = 'campaigns' and tg_op = 'DELETE' then
    perform change_facet_values(
      'campaigns', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with campaigns as (select -1 as change, o.* from old_rows o) select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, '', v.value from campaigns t, lateral (select distinct a.* from (
        select 'company', t.company
        union all select 'brand', t.brand
        union all select 'channel', t.channel
        union all select 'value_prop', unnest(t.key_value_props)
        union all select 'sentiment', t.imagery_sentiment
        union all select 'visual_style', t.imagery_visual_style
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change);
  end if;
  return old;
end
$$;
select keep_values_counted('campaigns', 'campaigns', 'insert', 'statement');
select keep_values_counted('campaigns', 'campaigns', 'update', 'statement');
select keep_values_counted('campaigns', 'campaigns', 'delete', 'statement');
select keep_values_counted('campaigns', 'campaigns', 'truncate', 'statement');
