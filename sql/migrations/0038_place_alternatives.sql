-- Where somebody wants to work, as an alternative to where an experience was: "Chennai or remote".
alter type card_filters add attribute or_preferred_locations text[];
