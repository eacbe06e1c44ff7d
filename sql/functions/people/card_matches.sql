-- Whether a card is visible and meets the filters on cards and on its person `p`, except the exclusions (excluded_people). This is the only
-- definition of the filters. It is simple enough to be inlined: with constant filters, those that are not set vanish from the plan, and
-- indexes serve the others.
create or replace function card_matches(c experience_cards, p people, f card_filters) returns boolean
language sql immutable parallel safe
return c.visible
  and (f.companies is null or c.company_norm = any(f.companies))
  and (f.schools is null or c.company_norm = any(f.schools) and c.intent_primary = 'education')
  and (f.teams is null or c.team_norm = any(f.teams))
  and (f.roles is null or c.role_search @@ all_roles(f.roles) and card_says_roles(c, said_roles(f.roles)))
  and (f.intents is null or c.intent_primary = any(f.intents))
  and (f.domains is null or c.domain_norm = any(f.domains))
  and (f.sub_domains is null or c.sub_domain_norm = any(f.sub_domains))
  and (f.employment_types is null or c.employment_type = any(f.employment_types))
  and (f.seniority_levels is null or c.seniority_level = any(f.seniority_levels))
  and (f.is_current is null or c.is_current = f.is_current)
  and (card_location_matches(c, f) or f.or_preferred_locations is not null and p.work_preferred_locations_norm && f.or_preferred_locations)
  and card_time_overlaps(c, f)
  and (f.started_from is null or c.start_date >= f.started_from)
  and (f.started_until is null or c.start_date <= f.started_until)
  and (f.ended_from is null or c.end_date >= f.ended_from)
  and (f.ended_until is null or c.end_date <= f.ended_until)
  and (f.open_to_work_only is null or p.open_to_work = f.open_to_work_only)
  and (f.preferred_locations is null or p.work_preferred_locations_norm && f.preferred_locations)
  and (f.offer_salary is null or p.work_preferred_salary_min is null or p.work_preferred_salary_min <= f.offer_salary)
  and (f.experience_on is null or p.experience_days + coalesce(greatest(f.experience_on - p.experience_since, 0), 0)
    between coalesce(f.experience_least, 0) and coalesce(f.experience_most, 2147483647));
