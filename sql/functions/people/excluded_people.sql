-- The people to leave out because a visible card of theirs is of an excluded company: who is not to be from there is not to be
-- found by what they did elsewhere either.
create or replace function excluded_people(f card_filters) returns text[]
language sql stable
as $$
  select array(
    select distinct c.person_id from experience_cards c where c.visible and c.company_norm = any(f.excluded_companies))
$$;
