-- Written by tools/generate.py from the facets of companies.
-- The values by which companies are looked up, each once a row; of the rows `p_keys`, or of all where that is null.
create or replace function companies_values(p_keys text[]) returns table (key text, scope text, facet text, value text)
language sql stable
as $$
  select t.id, '', v.facet, v.value
  from companies t cross join lateral (
    select distinct a.* from (
      select 'name', t.company_name
      union all
      select 'former_name', unnest(t.former_names)
      union all
      select 'domain', t.domain
      union all
      select 'sector', unnest(t.sectors)
      union all
      select 'category', unnest(t.categories)
      union all
      select 'business_model', unnest(t.business_models)
      union all
      select 'niche', unnest(t.niches)
      union all
      select 'status', t.status
      union all
      select 'city', unnest(place_parts(t.hq_city))
      union all
      select 'country', unnest(place_parts(t.hq_country))
      union all
      select 'funding_stage', t.funding_stage
      union all
      select 'founder', unnest(t.founders)
      union all
      select 'acquirer', t.acquirer
    ) a (facet, value)
  ) v (facet, value)
  where (p_keys is null or t.id = any(p_keys)) and (true)
    and length(v.value) <= 200 and folded_words(v.value) is not null
$$;
