-- How many lexemes a tsvector holds, as often as they stand there, 0 of an empty text: by so many ts_rank divides 1e-20, what it says of
-- a text that holds not both of two words, and none holds control characters.
create or replace function lexemes_held(p_words tsvector) returns double precision
language sql immutable parallel safe
return coalesce(1e-20::real::float8 / nullif(ts_rank(p_words, (quote_literal(chr(1)) || ' & ' || quote_literal(chr(2)))::tsquery, 2), 0), 0);
