-- The people with any of the names (lower case); for each of the texts, those with a visible card, a child of one or a profile that
-- contains its words; and for each of the groups, those with a visible card that meets it; null if nothing is requested.
create or replace function people_meeting(p_names text[], p_texts text[], p_groups card_filters[]) returns text[]
language plpgsql stable
security definer set search_path from current  -- reads whole people, whose contacts the serving role may not read
set plan_cache_mode = force_custom_plan
set random_page_cost = 1.1
as $$
declare
  meeting text[];
  words text;
  asked card_filters;
begin
  if p_names <> '{}' then
    meeting := array(select p.id from people p where lower(btrim(p.name)) = any(p_names));
  end if;
  foreach words in array p_texts loop
    meeting := array(
      select h.person_id from people_holding(phraseto_tsquery('english', searchable_text(words))) h (person_id)
      where meeting is null or h.person_id = any(meeting));
  end loop;
  foreach asked in array p_groups loop
    meeting := array(
      select distinct c.person_id from experience_cards c join people p on p.id = c.person_id
      where (meeting is null or c.person_id = any(meeting)) and card_matches(c, p, asked));
  end loop;
  return meeting;
end
$$;

revoke execute on function people_meeting(text[], text[], card_filters[]) from public;
grant execute on function people_meeting(text[], text[], card_filters[]) to quarry_serving;
