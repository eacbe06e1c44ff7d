-- How many campaigns hold every word of a query, where an index can tell which (see search_campaigns_by_text): exact up to p_limit, and
-- p_limit + 1 for any more.
create or replace function count_campaigns_by_text(p_query text, p_limit int, p_filter text default null) returns bigint
language sql stable
as $$
  select count_matches(
    'campaigns', concat_ws(' and ', format('t.text_search @@ %L', q.query), '(' || p_filter || ')'), p_limit, q.query::text like '%|%')
  from parsed_query(p_query) q (query)
$$;
