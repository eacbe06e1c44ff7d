-- What a query insists on even when not all of its words need to occur: quoted phrases, and words excluded with a minus, as
-- websearch_to_tsquery reads them. An empty tsquery where it insists on nothing.
create or replace function query_requirements(p_query text) returns tsquery
language sql immutable parallel safe
return (
  select parsed_query(coalesce(string_agg(m.part[1], ' '), ''))
  from regexp_matches(p_query, '((?:^|(?<=\s))-\s*(?:"[^"]*"?|[^\s"]+)|"[^"]+")', 'g') m (part)
);
