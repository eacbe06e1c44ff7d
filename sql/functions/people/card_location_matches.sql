-- Whether a card is of one of the places asked for, and of the country where one is named beside the place: whether its city, its
-- country or its location as it is written holds the name as whole words. Oman is not in Romania.
create or replace function card_location_matches(c experience_cards, f card_filters) returns boolean
language sql immutable parallel safe
return (f.places is null or c.places @@ any_place(f.places)) and (f.countries is null or c.places @@ any_place(f.countries));
