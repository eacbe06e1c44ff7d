-- The part of a query that titles are compared with by their spelling, letter by letter: 64 characters from its first letter or
-- digit on. Null for a text of more than 300, which is no title, and for one that has none: an index would be read as a whole.
create or replace function spelt_query(p_query text) returns text
language sql immutable parallel safe
return case when length(p_query) <= 300 and p_query ~ '[[:alnum:]]' then left(regexp_replace(p_query, '^[^[:alnum:]]+', ''), 64) end;
