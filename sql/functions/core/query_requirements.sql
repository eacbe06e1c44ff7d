-- What a query insists on even when not all of its words need to occur: see read_query.
create or replace function query_requirements(p_query text) returns tsquery
language sql immutable parallel safe
as $$
  select (read_query(p_query)).required
$$;
