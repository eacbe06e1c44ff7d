-- The part of a query that is compared with titles by spelling, letter by letter: 64 characters from its first letter or digit. Null for a
-- text of more than 300 characters, which is not a title, and for one without letters and digits: an index would be read as a whole.
create or replace function spelt_query(p_query text) returns text
language sql immutable parallel safe
return case when length(p_query) <= 300 and p_query ~ '[[:alnum:]]' then left(regexp_replace(p_query, '^[^[:alnum:]]+', ''), 64) end;
