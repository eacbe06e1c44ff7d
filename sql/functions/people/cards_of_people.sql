-- The cards of some people that the filters let through, each with what it is to what was asked for, p_asked, which p_filters may be a
-- relaxed form of. Planned for the filters at hand: what they ask for is then read once, not for each card. Of the
-- texts nothing is deleted: so they come unpacked, and are not unpacked for each word that they are compared with.
create or replace function cards_of_people(p_people text[], p_filters card_filters, p_asked card_filters) returns table (
  person_id text, card_id text, text_search tsvector, time_overlaps boolean, time_covered boolean, location_matches boolean
)
language plpgsql stable
rows 300
set random_page_cost = 1.1
as $$
begin
  return query execute format(
    'select c.person_id, c.id, ts_delete(c.text_search, ''''::text), card_time_overlaps(c, %1$L), card_time_covered(c, %1$L),
       coalesce(card_location_matches(c, %1$L), false)
     from experience_cards c where %2$s', p_asked, card_condition('c', p_filters, '{}', p_people));
end
$$;
