-- The cards that a search looks at (searched_cards), with the people whose they are; of more than p_limit, any p_limit. Where each
-- candidate is tested (is_left_out), the owners of at most max_tested cards are.
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
    select c.id, c.person_id from searched_cards(p_filters, p_excluded_people, p_among) c
    limit case when p_excluded_people is null then max_tested else p_limit end
  ) c
  where not is_left_out(c.person_id, p_filters, p_excluded_people)
  limit p_limit;
end
$$;
