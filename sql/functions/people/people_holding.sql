-- The people with these words in a visible card, in a child of one, or in their profile.
create or replace function people_holding(p_words tsquery) returns setof text
language sql stable
as $$
  select c.person_id from experience_cards c where c.visible and c.text_search @@ p_words
  union
  select c.person_id from experience_card_children k join experience_cards c on c.id = k.card_id where c.visible and k.text_search @@ p_words
  union
  select p.id from people p where p.text_search @@ p_words
$$;
