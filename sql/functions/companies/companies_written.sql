-- Written by tools/generate.py from the facets of companies.
-- Counts what a statement changes in the values by which companies are looked up.
create or replace function companies_written() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'TRUNCATE' then
    perform refresh_facet_values('companies');
  elsif tg_table_name = 'companies' and tg_op = 'INSERT' then
    perform change_facet_values(
      'companies', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with companies as (select 1 as change, n.* from new_rows n) select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, '', v.value from companies t, lateral (select distinct a.* from (
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
    ) c (facet, scope, value, change);
  elsif tg_table_name = 'companies' and tg_op = 'UPDATE' then
    perform change_facet_values(
      'companies', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with companies as (select 1 as change, n.* from (select acquirer, business_models, categories, company_name, domain, former_names, founders, funding_stage, hq_city, hq_country, id, niches, sectors, status from new_rows except all select acquirer, business_models, categories, company_name, domain, former_names, founders, funding_stage, hq_city, hq_country, id, niches, sectors, status from old_rows) n
      union all select -1, o.* from (select acquirer, business_models, categories, company_name, domain, former_names, founders, funding_stage, hq_city, hq_country, id, niches, sectors, status from old_rows except all select acquirer, business_models, categories, company_name, domain, former_names, founders, funding_stage, hq_city, hq_country, id, niches, sectors, status from new_rows) o)
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, '', v.value from companies t, lateral (select distinct a.* from (
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
    ) c (facet, scope, value, change);
  elsif tg_table_name = 'companies' and tg_op = 'DELETE' then
    perform change_facet_values(
      'companies', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with companies as (select -1 as change, o.* from old_rows o) select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, '', v.value from companies t, lateral (select distinct a.* from (
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
    ) c (facet, scope, value, change);
  end if;
  return old;
end
$$;
select keep_values_counted('companies', 'companies', 'insert', 'statement');
select keep_values_counted('companies', 'companies', 'update', 'statement');
select keep_values_counted('companies', 'companies', 'delete', 'statement');
select keep_values_counted('companies', 'companies', 'truncate', 'statement');
