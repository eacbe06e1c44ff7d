-- Whether a card's dates and the requested time share a day. A missing bound on either side is open, but a card without dates overlaps
-- nothing.
create or replace function card_time_overlaps(c experience_cards, f card_filters) returns boolean
language sql immutable parallel safe
return (f.time_start is null and f.time_end is null)
  or ((c.start_date is not null or c.end_date is not null)
      and (f.time_end is null or c.start_date is null or c.start_date <= f.time_end)
      and (f.time_start is null or c.end_date is null or c.end_date >= f.time_start));
