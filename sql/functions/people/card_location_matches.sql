-- Whether a card is of the place asked for, and of the country where one is named beside the place: by its city, its country, or its
-- location as it is written.
create or replace function card_location_matches(c experience_cards, f card_filters) returns boolean
language sql immutable parallel safe
as $$
  select (f.places is null or c.city_norm = any(f.places) or c.country_norm = any(f.places) or c.location ~* word_pattern(f.places))
    and (f.countries is null or c.country_norm = any(f.countries) or c.location ~* word_pattern(f.countries))
$$;
