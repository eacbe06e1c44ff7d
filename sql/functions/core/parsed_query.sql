-- A user's whole query within the limits of read_query, for rows in p_language or, if that is null, in our own tables.
create or replace function parsed_query(p_query text, p_language regconfig default null) returns tsquery
language sql immutable parallel safe
as $$
  select (read_query(p_query, p_language)).all_words
$$;
