-- Everything that is excluded by name, of any kind, since a headline may contain any of it.
create or replace function all_excluded(f card_filters) returns text[]
language sql immutable parallel safe
return f.excluded_keywords || f.excluded_companies || f.excluded_teams || f.excluded_places;
