-- The cards that a search looks at: those that the filters let through, without the people who are left out by name and, unless
-- that is null, of p_among alone. It is plain enough to be inlined, as card_matches is: an index on cards serves through it.
create or replace function searched_cards(p_filters card_filters, p_excluded_people text[], p_among text[])
returns setof experience_cards
language sql stable
as $$
  select c.* from experience_cards c left join people p on p.id = c.person_id
  where card_matches(c, p, p_filters) and (p_excluded_people = '{}' or c.person_id not in (select unnest(p_excluded_people)))
    and (p_among is null or c.person_id = any(p_among))
$$;
