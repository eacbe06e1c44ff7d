-- The words of a text as in a collection's rows: stemmed in its language, then without accents, in this order because stemmers recognise
-- endings by their accents. A word that stems differently without accents is included in both forms, for users who type none. Scripts without
-- words between spaces are in it by pairs of letters (paired_letters), and by single ones.
create or replace function text_words(p_language regconfig, p_text text) returns tsvector
language sql immutable parallel safe
as $$
  select case
    when octet_length(p_text) = length(p_text) then to_tsvector(p_language, p_text)
    when has_paired_letters(p_text) then single_letters(p_text) || (
      select (unaccented(to_tsvector(p_language, t.paired)::text) || ' ' || to_tsvector(p_language, unaccented(t.paired))::text)::tsvector
      from paired_letters(p_text) t (paired))
    else (unaccented(to_tsvector(p_language, p_text)::text) || ' ' || to_tsvector(p_language, unaccented(p_text))::text)::tsvector end
$$;
