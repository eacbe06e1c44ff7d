-- Whether a card's dates hold all of the time asked for. A card that has begun and not ended goes on.
create or replace function card_time_covered(c experience_cards, f card_filters) returns boolean
language sql immutable parallel safe
return card_time_overlaps(c, f)
  and (f.time_start is null or coalesce(c.start_date <= f.time_start, false))
  and (f.time_end is null or coalesce(c.end_date >= f.time_end, c.start_date is not null and c.is_current is not false));
