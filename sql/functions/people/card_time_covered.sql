-- Whether a card's dates cover the whole requested time. A card that has started and not ended is ongoing.
create or replace function card_time_covered(c experience_cards, f card_filters) returns boolean
language sql immutable parallel safe
return card_time_overlaps(c, f)
  and (f.time_start is null or coalesce(c.start_date <= f.time_start, false))
  and (f.time_end is null or coalesce(c.end_date >= f.time_end, c.start_date is not null and c.is_current is not false));
