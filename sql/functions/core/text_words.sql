-- The words of a text as a collection's rows hold them: stemmed by its language, then freed of accents, in this order since stemmers
-- know endings by their accents. A word that is stemmed otherwise when it is written without is there in both forms, for who
-- types none.
create or replace function text_words(p_language regconfig, p_text text) returns tsvector
language sql immutable parallel safe
as $$
  select case when octet_length(p_text) = length(p_text) then to_tsvector(p_language, p_text) else
    (unaccented(to_tsvector(p_language, p_text)::text) || ' ' || to_tsvector(p_language, unaccented(p_text))::text)::tsvector end
$$;
