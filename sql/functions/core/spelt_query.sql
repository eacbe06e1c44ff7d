-- The part of a query that titles are compared with by their spelling, letter by letter: its first 100 characters.
create or replace function spelt_query(p_query text) returns text
language sql immutable parallel safe
return left(p_query, 100);
