-- The people to leave out because a visible card of theirs is of an excluded company, holds an excluded keyword, itself or in one of
-- its children, or is what any of `p_ruled_out` asks for: who is not to be from there, or not to have done that, is not to be found by
-- what they did elsewhere either.
create or replace function excluded_people(f card_filters, p_ruled_out card_filters[] default '{}') returns text[]
language plpgsql stable
set plan_cache_mode = force_custom_plan
as $$
declare
  keywords constant tsquery := any_phrase(f.excluded_keywords);
  excluded text[] := array(
    select c.person_id from experience_cards c where c.visible and c.company_norm = any(f.excluded_companies)
    union
    select c.person_id from experience_cards c where c.visible and c.text_search @@ keywords
    union
    select c.person_id from experience_card_children k join experience_cards c on c.id = k.card_id
    where c.visible and k.text_search @@ keywords);
  ruled_out card_filters;
begin
  foreach ruled_out in array p_ruled_out loop
    excluded := array(
      select unnest(excluded)
      union
      select c.person_id from experience_cards c join people p on p.id = c.person_id where card_matches(c, p, ruled_out));
  end loop;
  return excluded;
end
$$;
