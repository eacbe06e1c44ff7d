-- The passage of a text that holds most of some words (lexemes, looked for as parts of words), short enough for ts_headline, which
-- reads a thousand characters in a tenth of a millisecond. A short text is its own passage.
create or replace function best_passage(p_text text, p_words text[]) returns text
language sql immutable parallel safe
as $$
  -- passages of 1,600 characters, each overlapping the next by half
  select case when length(p_text) <= 1600 then p_text else (
    select case when c.start = 1 then s.passage else regexp_replace(s.passage, '^\S*\s+', '') end
    from generate_series(1, length(p_text), 800) c (start), substr(p_text, c.start, 1600) s (passage)
    order by (select count(*) from unnest(p_words) w (word) where strpos(lower(s.passage), w.word) > 0) desc, c.start
    limit 1
  ) end
$$;
