-- How often a tsvector whose positions all weigh D contains a word. ts_rank of one word of weight D, 0.1, is 0.1 · Σ 1/i² for i up to that
-- number, over π²/6. This is inverted here: exact up to two occurrences, approximate beyond.
create or replace function times_held(p_words tsvector, p_word tsquery) returns double precision
language sql immutable parallel safe
return 0.67545 / (1.013203 - 10 * ts_rank(p_words, p_word)) - 0.66665;
