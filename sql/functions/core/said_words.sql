-- The words of a query with their places, as rows in a language are asked for them; without one: as our own tables are (see asked_words).
create or replace function said_words(p_language regconfig, p_text text) returns tsvector
language sql immutable parallel safe
as $$
  select case when p_language is null then to_tsvector('english', p_text)
    else unaccented(to_tsvector(p_language, p_text)::text)::tsvector end
$$;
