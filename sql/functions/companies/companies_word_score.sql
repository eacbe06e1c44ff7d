-- The score of one word in a company's text: as in search_companies_keyword_v1, where the word's position counts.
create or replace function companies_word_score(p_text tsvector, p_word tsquery) returns real
language sql immutable parallel safe
return ts_rank(p_text, p_word);
