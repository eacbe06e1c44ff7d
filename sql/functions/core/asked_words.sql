-- What a text asks for of rows in a language: its words as websearch_to_tsquery reads them or, for p_as_phrase, one after the
-- other. Without a language: of rows that hold English as our own tables do, with accents; else see text_words.
create or replace function asked_words(p_language regconfig, p_text text, p_as_phrase boolean default false) returns tsquery
language sql immutable parallel safe
as $$
  select case
    when p_language is null and p_as_phrase then phraseto_tsquery('english', p_text)
    when p_language is null then websearch_to_tsquery('english', p_text)
    when p_as_phrase then unaccented(phraseto_tsquery(p_language, p_text)::text)::tsquery
    else unaccented(websearch_to_tsquery(p_language, p_text)::text)::tsquery end
$$;
