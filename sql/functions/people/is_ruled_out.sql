-- Whether a person is to be left out for a card of an excluded company, or with an excluded keyword: see excluded_people, which names
-- them all at once. It is asked for one candidate after another: planning it for each would cost more than the test.
create or replace function is_ruled_out(p_person_id text, p_excluded_companies text[], p_excluded_keywords tsquery) returns boolean
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
begin
  return exists (
    select from experience_cards c
    where c.person_id = p_person_id and c.visible and (
      c.company_norm = any(p_excluded_companies) or c.text_search @@ p_excluded_keywords
      or exists (select from experience_card_children k where k.card_id = c.id and k.text_search @@ p_excluded_keywords)));
end
$$;
