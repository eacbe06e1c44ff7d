-- Whether reading the table finds p_rows rows with all of these words (lexemes) sooner than its index: if the words are so common that the
-- index would read more entries than there are rows to read until this many are found.
create or replace function favors_seq_scan(p_table regclass, p_words text[], p_rows int) returns boolean
language sql stable
as $$
  -- reading 6 entries takes as long as reading a row
  select coalesce(
    count(*) = cardinality(p_words) and 6::float8 * p_rows < sum(c.rows) * exp(greatest(-100, sum(ln(c.rows / greatest(1, t.rows)::float8)))), false)
  from lexeme_counts c join text_totals t using (of_table)
  where c.of_table = p_table::text and c.lexeme = any(p_words)
$$;
