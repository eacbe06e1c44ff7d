-- Written by tools/generate.py from the facets of campaigns.
-- The values by which campaigns are looked up, each once a row; of the rows `p_keys`, or of all where that is null.
create or replace function campaigns_values(p_keys text[]) returns table (key text, scope text, facet text, value text)
language sql stable
as $$
  select t.id, '', v.facet, v.value
  from campaigns t cross join lateral (
    select distinct a.* from (
      select 'company', t.company
      union all
      select 'brand', t.brand
      union all
      select 'channel', t.channel
      union all
      select 'value_prop', unnest(t.key_value_props)
      union all
      select 'sentiment', t.imagery_sentiment
      union all
      select 'visual_style', t.imagery_visual_style
    ) a (facet, value)
  ) v (facet, value)
  where (p_keys is null or t.id = any(p_keys)) and (true)
    and length(v.value) <= 200 and folded_words(v.value) is not null
$$;
