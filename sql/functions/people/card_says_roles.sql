-- Whether an experience is all of some roles (said_roles) by the words as written. A skill says so if it consists of words of the roles or
-- states all of them: "data structures" makes no engineer a data engineer. It reads texts, so use it on cards that match by their stems
-- (role_search), which an index finds.
create or replace function card_says_roles(c experience_cards, p_roles tsquery) returns boolean
language plpgsql immutable parallel safe
cost 1000
as $$
declare
  own constant tsvector := to_tsvector('simple', searchable_text(
    c.title, c.domain, c.sub_domain, c.team, c.seniority_level, replace(c.employment_type, '_', ' '),
    case when c.intent_primary <> 'work' then replace(c.intent_primary, '_', ' ') end));
begin
  return own @@ p_roles or own || (
    select coalesce(to_tsvector('simple', searchable_text(joined_names(array_agg(s.skill)))), '')
    from unnest(c.skills) s (skill), to_tsvector('simple', searchable_text(s.skill)) w (words)
    where w.words @@ p_roles or tsvector_to_array(w.words) <@ tsvector_to_array(to_tsvector('simple', p_roles::text))) @@ p_roles;
end
$$;
