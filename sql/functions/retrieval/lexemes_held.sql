-- The number of lexemes in a tsvector, with repetitions, 0 for an empty text. ts_rank divides 1e-20, its value for a text that does not
-- contain both of two words, by this number; no text contains control characters.
create or replace function lexemes_held(p_words tsvector) returns double precision
language sql immutable parallel safe
return coalesce(1e-20::real::float8 / nullif(ts_rank(p_words, (quote_literal(chr(1)) || ' & ' || quote_literal(chr(2)))::tsquery, 2), 0), 0);
