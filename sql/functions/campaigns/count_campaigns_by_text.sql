-- How many campaigns hold every word of a query, where an index can tell which (see search_campaigns_by_text): exact up to p_limit, and
-- p_limit + 1 for any more. Where all words are in so many campaigns that an index would read more entries than there are campaigns to
-- read until as many are found, the table may be read instead; as well for alternatives.
create or replace function count_campaigns_by_text(p_query text, p_limit int, p_filter text default null) returns bigint
language sql stable
as $$
  select count_matches(
    'campaigns', concat_ws(' and ', format('t.text_search @@ %L', q.all_words), '(' || p_filter || ')'), p_limit,
    q.all_words::text like '%|%' or p_filter is null and q.all_words::text not like '%!%' and w.are_common)
  from read_query(p_query) q, lateral (
    -- 6 entries are read in the time in which a row is
    select count(*) = cardinality(q.words) and 6::float8 * p_limit < sum(c.rows) * exp(sum(ln(c.rows / greatest(1, t.rows)::float8))) as are_common
    from lexeme_counts c join text_totals t using (of_table)
    where c.of_table = 'campaigns' and c.lexeme = any(q.words)
  ) w
$$;
