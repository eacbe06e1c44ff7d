-- The words of a query with their positions, in the form for rows in a language; without one, for our own tables (see asked_words).
create or replace function said_words(p_language regconfig, p_text text) returns tsvector
language sql immutable parallel safe
as $$
  select case when p_language is null then to_tsvector('english', paired_letters(p_text))
    else unaccented(to_tsvector(p_language, paired_letters(p_text))::text)::tsvector end
$$;
