-- The cards that the filters let through, with the people whose they are; of more than p_limit, any p_limit.
-- Of p_among alone, unless that is null.
create or replace function fitting_cards(p_filters card_filters, p_excluded_people text[], p_among text[], p_limit int)
returns table (card_id text, person_id text)
language plpgsql stable
set plan_cache_mode = force_custom_plan
set random_page_cost = 1.1
as $$
#variable_conflict use_column
begin
  return query
  select c.id, c.person_id from experience_cards c left join people p on p.id = c.person_id
  where card_matches(c, p, p_filters) and (p_excluded_people = '{}' or c.person_id not in (select unnest(p_excluded_people)))
    and (p_among is null or c.person_id = any(p_among))
  limit p_limit;
end
$$;
