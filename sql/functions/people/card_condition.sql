-- The cards that a search reads, as a condition on a row of experience_cards named p_row: those that pass the filters, without excluded
-- people and, unless it is null, only of p_among. Because it consists of quoted constants, it is planned for these filters: unset ones
-- vanish, and indexes serve the rest.
create or replace function card_condition(p_row name, p_filters card_filters, p_excluded_people text[], p_among text[]) returns text
language sql stable
as $$
  select format(
      case when (p_filters).open_to_work_only is not null or (p_filters).preferred_locations is not null or (p_filters).or_preferred_locations is not null
          or (p_filters).offer_salary is not null or (p_filters).experience_on is not null
        then 'exists (select from people p where p.id = %1$I.person_id and card_matches(%1$I, p, %2$L))'
        else 'card_matches(%1$I, null::people, %2$L)' end, p_row, p_filters)
    || case when p_excluded_people <> '{}' then format(' and %I.person_id <> all (%L::text[])', p_row, p_excluded_people) else '' end
    || case when p_among is not null then format(' and %I.person_id = any (%L::text[])', p_row, p_among) else '' end
$$;
