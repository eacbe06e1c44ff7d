-- Written by tools/generate.py from the facets of campaigns.
-- The values by which campaigns are looked up, and how many rows have each.
create or replace function campaigns_values() returns table (facet text, scope text, value text, row_count int)
language sql stable
as $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, '', v.value from campaigns t, lateral (select distinct a.* from (
        select 'company', t.company
        union all select 'brand', t.brand
        union all select 'channel', t.channel
        union all select 'value_prop', unnest(t.key_value_props)
        union all select 'sentiment', t.imagery_sentiment
        union all select 'visual_style', t.imagery_visual_style
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;
select keep_values_counted('campaigns', 'campaigns', '{insert,update,delete,truncate}', 'brand, channel, company, id, imagery_sentiment, imagery_visual_style, key_value_props');
