-- The cards of some people that pass the filters and are not excluded, each with how it relates to the original filters, p_asked, of which
-- p_filters may be a relaxed form. Planned for the given filters: their values are then read once, not for each card. ts_delete of nothing
-- unpacks the texts once, not for each word they are compared with.
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
     from experience_cards c where %2$s and card_is_excluded(c, %1$L, %3$L, %4$L, %5$L) is not true',
    p_asked, card_condition('c', p_filters, '{}', p_people), any_phrase(p_asked.excluded_keywords),
    said_phrases(p_asked.excluded_keywords), any_place(p_asked.excluded_places));
end
$$;
