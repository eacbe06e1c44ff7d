-- The tsquery of a text for rows in a language: its words as websearch_to_tsquery reads them or, with p_as_phrase, in sequence. Without a
-- language, for rows in English as in our own tables, with accents; otherwise see text_words.
create or replace function asked_words(p_language regconfig, p_text text, p_as_phrase boolean default false) returns tsquery
language sql immutable parallel safe
as $$
  select case
    when p_language is null and p_as_phrase then phraseto_tsquery('english', paired_letters(p_text))
    when p_language is null then websearch_to_tsquery('english', paired_letters(p_text))
    when p_as_phrase then unaccented(phraseto_tsquery(p_language, paired_letters(p_text))::text)::tsquery
    else unaccented(websearch_to_tsquery(p_language, paired_letters(p_text))::text)::tsquery end
$$;
