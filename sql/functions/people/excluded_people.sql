-- The people to leave out because a visible card of theirs that meets p_within, or a child of it, is of an excluded company, team, place or
-- time or contains an excluded keyword, or because a card shows an excluded state; if p_profiles, also because their headline contains any of
-- these, or their name a keyword. Whoever has done that in another experience than the one asked for is not left out.
--
-- Null if ANALYZE expects more than max_expected excluding cards, children and profiles: testing each candidate is then less work
-- (is_ruled_out). Volatile, since Postgres allows explain in no other function.
create or replace function excluded_people(f card_filters, p_within card_filters, p_profiles boolean) returns text[]
language plpgsql volatile
security definer set search_path from current  -- reads whole people, whose contacts the serving role may not read
set plan_cache_mode = force_custom_plan
as $$
declare
  max_expected constant float8 := 8000;
  keywords constant tsquery := any_phrase(f.excluded_keywords);
  said constant tsquery := said_phrases(f.excluded_keywords);
  phrases constant tsquery := said_phrases(array(select k from unnest(f.excluded_keywords) k where k like '% %'));
  named constant tsquery := any_phrase(case when p_profiles then all_excluded(f) end);
  named_said constant tsquery := said_phrases(all_excluded(f));
  excluded_places constant tsquery := any_place(f.excluded_places);
  plan json;
begin
  execute 'explain (format json)'
    ' select from experience_cards c where card_rules_out(c, $1, $6, $2, $3, $4)'
    ' union all select from experience_card_children k where k.text_search @@ $2'
    ' union all select from people p where p.text_search @@ $5'
    into plan using f, keywords, said, excluded_places, named, p_within;
  if (plan -> 0 -> 'Plan' ->> 'Plan Rows')::float8 > max_expected then
    return null;
  end if;
  return array(
    select c.person_id from experience_cards c where card_rules_out(c, f, p_within, keywords, said, excluded_places)
    union
    select c.person_id from experience_card_children k join experience_cards c on c.id = k.card_id
    where c.visible and k.text_search @@ keywords and says(child_text(k), said) and card_matches(c, null::people, p_within)
    union
    select p.id from people p where profile_rules_out(p, named, named_said, phrases));
end
$$;

revoke execute on function excluded_people(card_filters, card_filters, boolean) from public;
grant execute on function excluded_people(card_filters, card_filters, boolean) to quarry_serving;
