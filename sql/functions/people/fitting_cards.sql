-- The cards that the filters let through, with the people whose they are; of more than p_limit, any p_limit;
-- of p_among alone, unless that is null. Where it is not known
-- whom the exclusions leave out, p_excluded_people being null, the owners of at most max_tested cards are tested.
create or replace function fitting_cards(p_filters card_filters, p_excluded_people text[], p_among text[], p_limit int)
returns table (card_id text, person_id text)
language plpgsql stable
set plan_cache_mode = force_custom_plan
set random_page_cost = 1.1
as $$
#variable_conflict use_column
declare
  max_tested constant int := 2000;
begin
  return query
  select c.id, c.person_id
  from (
    select c.id, c.person_id from experience_cards c left join people p on p.id = c.person_id
    where card_matches(c, p, p_filters) and (p_excluded_people = '{}' or c.person_id not in (select unnest(p_excluded_people)))
      and (p_among is null or c.person_id = any(p_among))
    limit case when p_excluded_people is null then max_tested else p_limit end
  ) c
  where p_excluded_people is not null
    or not is_ruled_out(
      c.person_id, p_filters, any_phrase(p_filters.excluded_keywords), any_place(p_filters.excluded_places))
  limit p_limit;
end
$$;
