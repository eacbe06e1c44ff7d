-- Written by tools/generate.py from the facets of companies.
-- The values by which companies are looked up, and how many rows have each.
create or replace function companies_values() returns table (facet text, scope text, value text, row_count int)
language sql stable
as $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, '', v.value from companies t, lateral (select distinct a.* from (
        select 'name', t.company_name
        union all select 'former_name', unnest(t.former_names)
        union all select 'domain', t.domain
        union all select 'sector', unnest(t.sectors)
        union all select 'category', unnest(t.categories)
        union all select 'business_model', unnest(t.business_models)
        union all select 'niche', unnest(t.niches)
        union all select 'status', t.status
        union all select 'city', unnest(place_parts(t.hq_city))
        union all select 'country', unnest(place_parts(t.hq_country))
        union all select 'funding_stage', t.funding_stage
        union all select 'founder', unnest(t.founders)
        union all select 'acquirer', t.acquirer
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;
select keep_values_counted('companies', 'companies', '{insert,update,delete,truncate}', 'acquirer, business_models, categories, company_name, domain, former_names, founders, funding_stage, hq_city, hq_country, id, niches, sectors, status');
