-- Whether a person is excluded by one of their cards or its children, or, if p_profiles, by their name or headline. excluded_people returns
-- all such people at once. This function is called for single candidates: planning it for each would cost more than the test.
create or replace function is_ruled_out(
  p_person_id text, f card_filters, p_within card_filters, p_profiles boolean, p_keywords tsquery, p_places tsquery
) returns boolean
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
declare
  said constant tsquery := said_phrases(f.excluded_keywords);
  named constant text[] := all_excluded(f);
  phrases constant text[] := array(select k from unnest(f.excluded_keywords) k where k like '% %');
begin
  return exists (
    select from experience_cards c
    where c.person_id = p_person_id and (
      card_rules_out(c, f, p_within, p_keywords, said, p_places)
      or c.visible and card_matches(c, null::people, p_within) and exists (
        select from experience_card_children k
        where k.card_id = c.id and k.text_search @@ p_keywords and says(child_text(k), said))))
    or p_profiles and exists (
      select from people p where p.id = p_person_id
        and profile_rules_out(p, any_phrase(named), said_phrases(named), said_phrases(phrases)));
end
$$;
