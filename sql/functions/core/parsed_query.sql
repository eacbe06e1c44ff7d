-- A user's whole query within the bounds of read_query.
create or replace function parsed_query(p_query text) returns tsquery
language sql immutable parallel safe
as $$
  select (read_query(p_query)).all_words
$$;
