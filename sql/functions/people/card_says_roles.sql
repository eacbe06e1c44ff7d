-- Whether an experience is all of some roles (said_roles) by the words as written. It reads texts, so use it on cards that match by their
-- stems (role_search), which an index finds.
create or replace function card_says_roles(c experience_cards, p_roles tsquery) returns boolean
language plpgsql immutable parallel safe
cost 1000
as $$
begin
  return to_tsvector('simple', searchable_text(
    c.title, c.domain, c.sub_domain, c.team, joined_names(c.skills), c.seniority_level, replace(c.employment_type, '_', ' '),
    case when c.intent_primary <> 'work' then replace(c.intent_primary, '_', ' ') end)) @@ p_roles;
end
$$;
