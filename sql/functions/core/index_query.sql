-- What an index can be asked for on behalf of a query: its words, wherever they stand, without its exclusions; every row that
-- matches the query matches this. An empty tsquery where no index can help.
create or replace function index_query(p_query tsquery) returns tsquery
language sql immutable parallel safe
return coalesce(nullif(regexp_replace(querytree(p_query), '<(-|\d+)>', '&', 'g'), 'T'), '')::tsquery;
