-- The cards to leave out, with their children, because they or one of their children hold an excluded keyword.
create or replace function excluded_cards(f card_filters) returns text[]
language plpgsql stable
as $$
declare
  keywords constant tsquery := any_phrase(f.excluded_keywords);
begin
  return array(
    select c.id from experience_cards c where c.text_search @@ keywords
    union
    select k.card_id from experience_card_children k where k.text_search @@ keywords);
end
$$;
