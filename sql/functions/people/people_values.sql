-- Written by tools/generate.py from the facets of people.
-- The values by which people are looked up, and how many rows have each.
create or replace function people_values() returns table (facet text, scope text, value text, row_count int)
language sql stable
as $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, '', v.value from people t, lateral (select distinct a.* from (
        select 'name', t.name
        union all select 'home', unnest(place_parts(concat_ws(', ', t.city, t.country)))
        union all select 'preferred_place', unnest(place_parts(joined_names(t.work_preferred_locations)))
      ) a (facet, value)) v (facet, value) where exists (select from experience_cards v where v.person_id = t.id and v.visible)
      union all
      select 1, v.facet, '', v.value from people t join experience_cards r on r.person_id = t.id, lateral (select distinct a.* from (
        select 'company', r.company_name where r.person_id = t.id and r.visible and (r.intent_primary = 'education') is not true
        union all select 'team', r.team where r.person_id = t.id and r.visible and (r.intent_primary = 'education') is not true
        union all select 'title', title_runs(r.title) where r.person_id = t.id and r.visible and (r.intent_primary = 'education') is not true
        union all select 'seniority', r.seniority_level where r.person_id = t.id and r.visible and (r.intent_primary = 'education') is not true
        union all select 'employment', r.employment_type where r.person_id = t.id and r.visible and (r.intent_primary = 'education') is not true
        union all select 'workplace', unnest(place_parts(concat_ws(', ', r.city, r.country, r.location))) where r.person_id = t.id and r.visible and (r.intent_primary = 'education') is not true
        union all select 'school', r.company_name where r.person_id = t.id and r.visible and r.intent_primary = 'education'
        union all select 'degree', title_runs(r.title) where r.person_id = t.id and r.visible and r.intent_primary = 'education'
        union all select 'domain', r.domain where r.person_id = t.id and r.visible
        union all select 'sub_domain', r.sub_domain where r.person_id = t.id and r.visible
        union all select 'intent', r.intent_primary where r.person_id = t.id and r.visible
        union all select 'skill', unnest(r.skills) where r.person_id = t.id and r.visible
      ) a (facet, value)) v (facet, value) where exists (select from experience_cards v where v.person_id = t.id and v.visible)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;
select keep_values_counted('people', 'people', '{insert,update,delete each row,truncate}', 'city, country, id, name, work_preferred_locations');
select keep_values_counted('people', 'experience_cards', '{insert,update,delete,truncate}', 'city, company_name, country, domain, employment_type, id, intent_primary, location, person_id, seniority_level, skills, sub_domain, team, title, visible', 'id', 'person_id');
