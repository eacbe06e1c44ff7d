-- How many campaigns hold every word of a query, where an index can tell which (see search_campaigns_by_text): exact up to p_limit, and
-- p_limit + 1 for any more. Where all words are in so many campaigns that an index would read more entries than there are campaigns to
-- read until as many are found, the table may be read instead; as well for alternatives.
create or replace function count_campaigns_by_text(p_query text, p_limit int, p_filter text default null) returns bigint
language sql stable
as $$
  select count_matches(
    'campaigns', concat_ws(' and ', format('t.text_search @@ %L', q.all_words), '(' || p_filter || ')'), p_limit,
    q.all_words::text like '%|%' or p_filter is null and q.all_words::text not like '%!%' and favors_seq_scan('campaigns', q.words, p_limit))
  from read_query(p_query) q
$$;
