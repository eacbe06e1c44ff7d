-- The people to leave out because a visible card of theirs is of an excluded company, or holds an excluded keyword, itself or in one
-- of its children: who is not to be from there, or not to have done that, is not to be found by what they did elsewhere either.
create or replace function excluded_people(f card_filters) returns text[]
language plpgsql stable
as $$
declare
  keywords constant tsquery := any_phrase(f.excluded_keywords);
begin
  return array(
    select c.person_id from experience_cards c where c.visible and c.company_norm = any(f.excluded_companies)
    union
    select c.person_id from experience_cards c where c.visible and c.text_search @@ keywords
    union
    select c.person_id from experience_card_children k join experience_cards c on c.id = k.card_id
    where c.visible and k.text_search @@ keywords);
end
$$;
