-- Written by tools/generate.py from the facets of people.
-- The values by which people are looked up, each once a row; of the rows `p_keys`, or of all where that is null.
create or replace function people_values(p_keys text[]) returns table (key text, scope text, facet text, value text)
language sql stable
as $$
  select t.id, '', v.facet, v.value
  from people t cross join lateral (
    select distinct a.* from (
      select 'name', t.name
      union all
      select 'home', unnest(place_parts(concat_ws(', ', t.city, t.country)))
      union all
      select 'preferred_place', unnest(place_parts(joined_names(t.work_preferred_locations)))
      union all
      select o.* from experience_cards r cross join lateral (
        select 'domain', r.domain
        union all
        select 'sub_domain', r.sub_domain
        union all
        select 'intent', r.intent_primary
        union all
        select 'skill', unnest(r.skills)
      ) o where r.person_id = t.id and r.visible
      union all
      select o.* from experience_cards r cross join lateral (
        select 'company', r.company_name
        union all
        select 'team', r.team
        union all
        select 'title', title_runs(r.title)
        union all
        select 'seniority', r.seniority_level
        union all
        select 'employment', r.employment_type
        union all
        select 'workplace', unnest(place_parts(concat_ws(', ', r.city, r.country, r.location)))
      ) o where r.person_id = t.id and r.visible and r.intent_primary <> 'education'
      union all
      select o.* from experience_cards r cross join lateral (
        select 'school', r.company_name
        union all
        select 'degree', title_runs(r.title)
      ) o where r.person_id = t.id and r.visible and r.intent_primary = 'education'
    ) a (facet, value)
  ) v (facet, value)
  where (p_keys is null or t.id = any(p_keys)) and (exists (select from experience_cards v where v.person_id = t.id and v.visible))
    and length(v.value) <= 200 and folded_words(v.value) is not null
$$;
