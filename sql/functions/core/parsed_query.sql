-- A user's whole query within the bounds of read_query, for rows in p_language or, where that is null, those of our own tables.
create or replace function parsed_query(p_query text, p_language regconfig default null) returns tsquery
language sql immutable parallel safe
as $$
  select (read_query(p_query, p_language)).all_words
$$;
