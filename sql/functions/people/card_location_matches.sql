-- Whether a card is in one of the requested places, and in the country if one is named with the place: whether its city, its country or its
-- location contains the name as whole words. Oman is not in Romania.
create or replace function card_location_matches(c experience_cards, f card_filters) returns boolean
language sql immutable parallel safe
return (f.places is null or c.places @@ any_place(f.places)) and (f.countries is null or c.places @@ any_place(f.countries));
