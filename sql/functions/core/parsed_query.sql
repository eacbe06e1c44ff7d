-- A user's query as websearch_to_tsquery reads it, which fails where more than 32 dashes follow one another ("tsquery stack too
-- small"): a dash excludes what follows, so two of them say nothing.
create or replace function parsed_query(p_query text) returns tsquery
language sql immutable parallel safe
return websearch_to_tsquery('english', regexp_replace(p_query, '-\s*-', ' ', 'g'));
