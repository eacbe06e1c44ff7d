-- How well a company's text holds one word: as search_companies_keyword_v1 ranks it, where the word counts by where it stands.
create or replace function companies_word_score(p_text tsvector, p_word tsquery) returns real
language sql immutable parallel safe
return ts_rank(p_text, p_word);
