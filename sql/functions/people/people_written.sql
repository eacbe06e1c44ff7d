-- Written by tools/generate.py from the facets of people.
-- Counts what a statement changes in the values by which people are looked up.
create or replace function people_written() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'TRUNCATE' then
    perform refresh_facet_values('people');
  elsif tg_table_name = 'people' and tg_op = 'INSERT' then
    execute $planned_anew$ select change_facet_values(
      'people', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with people as (select 1 as change, n.* from new_rows n) select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, '', v.value from people t, lateral (select distinct a.* from (
        select 'name', t.name
        union all select 'home', unnest(place_parts(concat_ws(', ', t.city, t.country)))
        union all select 'preferred_place', unnest(place_parts(joined_names(t.work_preferred_locations)))
      ) a (facet, value)) v (facet, value) where exists (select from experience_cards v where v.person_id = t.id and v.visible)
      union all
      select t.change, v.facet, '', v.value from people t join experience_cards r on r.person_id = t.id, lateral (select distinct a.* from (
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
    ) c (facet, scope, value, change) $planned_anew$;
  elsif tg_table_name = 'people' and tg_op = 'UPDATE' then
    execute $planned_anew$ select change_facet_values(
      'people', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with people as (select 1 as change, n.* from (select city, country, id, name, work_preferred_locations from new_rows except all select city, country, id, name, work_preferred_locations from old_rows) n
      union all select -1, o.* from (select city, country, id, name, work_preferred_locations from old_rows except all select city, country, id, name, work_preferred_locations from new_rows) o)
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, '', v.value from people t, lateral (select distinct a.* from (
        select 'name', t.name
        union all select 'home', unnest(place_parts(concat_ws(', ', t.city, t.country)))
        union all select 'preferred_place', unnest(place_parts(joined_names(t.work_preferred_locations)))
      ) a (facet, value)) v (facet, value) where exists (select from experience_cards v where v.person_id = t.id and v.visible)
      union all
      select t.change, v.facet, '', v.value from people t join experience_cards r on r.person_id = t.id, lateral (select distinct a.* from (
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
    ) c (facet, scope, value, change) $planned_anew$;
  elsif tg_table_name = 'people' and tg_op = 'DELETE' then
    perform change_facet_values(
      'people', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with people as (select -1 as change, old.*) select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, '', v.value from people t, lateral (select distinct a.* from (
        select 'name', t.name
        union all select 'home', unnest(place_parts(concat_ws(', ', t.city, t.country)))
        union all select 'preferred_place', unnest(place_parts(joined_names(t.work_preferred_locations)))
      ) a (facet, value)) v (facet, value) where exists (select from experience_cards v where v.person_id = t.id and v.visible)
      union all
      select t.change, v.facet, '', v.value from people t join experience_cards r on r.person_id = t.id, lateral (select distinct a.* from (
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
    ) c (facet, scope, value, change);
  elsif tg_table_name = 'experience_cards' and tg_op = 'INSERT' then
    execute $planned_anew$ select change_facet_values(
      'people', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with before as (select city, company_name, country, domain, employment_type, id, intent_primary, location, person_id, seniority_level, skills, sub_domain, team, title, visible from experience_cards b where b.person_id in (select person_id from new_rows) and not exists (select from new_rows w where w.id = b.id)),
    owners as (select t.* from people t where t.id in (select person_id from new_rows)),
    people as (select (a.id is not null)::int - (b.id is not null)::int as change, t.* from owners t
      left join (select t.id from owners t where exists (select from experience_cards v where v.person_id = t.id and v.visible)) a on a.id = t.id
      left join (select t.id from owners t where exists (select from before v where v.person_id = t.id and v.visible)) b on b.id = t.id),
    experience_cards as (select 1 as change, w.* from new_rows w)
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select r.change, v.facet, '', v.value from people t join experience_cards r on r.person_id = t.id, lateral (select distinct a.* from (
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
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, '', v.value from people t, lateral (select distinct a.* from (
        select 'name', t.name
        union all select 'home', unnest(place_parts(concat_ws(', ', t.city, t.country)))
        union all select 'preferred_place', unnest(place_parts(joined_names(t.work_preferred_locations)))
      ) a (facet, value)) v (facet, value) where t.change <> 0
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  elsif tg_table_name = 'experience_cards' and tg_op = 'UPDATE' then
    execute $planned_anew$ select change_facet_values(
      'people', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with changed_to as (select city, company_name, country, domain, employment_type, id, intent_primary, location, person_id, seniority_level, skills, sub_domain, team, title, visible from new_rows except all select city, company_name, country, domain, employment_type, id, intent_primary, location, person_id, seniority_level, skills, sub_domain, team, title, visible from old_rows),
    changed_from as (select city, company_name, country, domain, employment_type, id, intent_primary, location, person_id, seniority_level, skills, sub_domain, team, title, visible from old_rows except all select city, company_name, country, domain, employment_type, id, intent_primary, location, person_id, seniority_level, skills, sub_domain, team, title, visible from new_rows),
    before as (select city, company_name, country, domain, employment_type, id, intent_primary, location, person_id, seniority_level, skills, sub_domain, team, title, visible from experience_cards b where b.person_id in (select person_id from changed_to union select person_id from changed_from) and not exists (select from changed_to w where w.id = b.id) union all select city, company_name, country, domain, employment_type, id, intent_primary, location, person_id, seniority_level, skills, sub_domain, team, title, visible from changed_from),
    owners as (select t.* from people t where t.id in (select person_id from changed_to union select person_id from changed_from)),
    people as (select (a.id is not null)::int - (b.id is not null)::int as change, t.* from owners t
      left join (select t.id from owners t where exists (select from experience_cards v where v.person_id = t.id and v.visible)) a on a.id = t.id
      left join (select t.id from owners t where exists (select from before v where v.person_id = t.id and v.visible)) b on b.id = t.id),
    experience_cards as (select 1 as change, w.* from changed_to w union all select -1 as change, w.* from changed_from w)
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select r.change, v.facet, '', v.value from people t join experience_cards r on r.person_id = t.id, lateral (select distinct a.* from (
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
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, '', v.value from people t, lateral (select distinct a.* from (
        select 'name', t.name
        union all select 'home', unnest(place_parts(concat_ws(', ', t.city, t.country)))
        union all select 'preferred_place', unnest(place_parts(joined_names(t.work_preferred_locations)))
      ) a (facet, value)) v (facet, value) where t.change <> 0
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  elsif tg_table_name = 'experience_cards' and tg_op = 'DELETE' then
    execute $planned_anew$ select change_facet_values(
      'people', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with before as (select city, company_name, country, domain, employment_type, id, intent_primary, location, person_id, seniority_level, skills, sub_domain, team, title, visible from experience_cards b where b.person_id in (select person_id from old_rows) union all select city, company_name, country, domain, employment_type, id, intent_primary, location, person_id, seniority_level, skills, sub_domain, team, title, visible from old_rows),
    owners as (select t.* from people t where t.id in (select person_id from old_rows)),
    people as (select (a.id is not null)::int - (b.id is not null)::int as change, t.* from owners t
      left join (select t.id from owners t where exists (select from experience_cards v where v.person_id = t.id and v.visible)) a on a.id = t.id
      left join (select t.id from owners t where exists (select from before v where v.person_id = t.id and v.visible)) b on b.id = t.id),
    experience_cards as (select -1 as change, w.* from old_rows w)
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select r.change, v.facet, '', v.value from people t join experience_cards r on r.person_id = t.id, lateral (select distinct a.* from (
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
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, '', v.value from people t, lateral (select distinct a.* from (
        select 'name', t.name
        union all select 'home', unnest(place_parts(concat_ws(', ', t.city, t.country)))
        union all select 'preferred_place', unnest(place_parts(joined_names(t.work_preferred_locations)))
      ) a (facet, value)) v (facet, value) where t.change <> 0
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  end if;
  return old;
end
$$;
select keep_values_counted('people', 'people', 'insert', 'statement');
select keep_values_counted('people', 'people', 'update', 'statement');
select keep_values_counted('people', 'people', 'delete', 'each row');
select keep_values_counted('people', 'people', 'truncate', 'statement');
select keep_values_counted('people', 'experience_cards', 'insert', 'statement');
select keep_values_counted('people', 'experience_cards', 'update', 'statement');
select keep_values_counted('people', 'experience_cards', 'delete', 'statement');
select keep_values_counted('people', 'experience_cards', 'truncate', 'statement');
