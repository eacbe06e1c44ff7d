-- The part of a query that titles are compared with by their spelling, letter by letter: from its first letter or digit on 64
-- characters, of a text of more than 300, which is no title, 16. An index is read as a whole for a text without any.
create or replace function spelt_query(p_query text) returns text
language sql immutable parallel safe
return left(regexp_replace(p_query, '^[^[:alnum:]]+', ''), case when length(p_query) <= 300 then 64 else 16 end);
