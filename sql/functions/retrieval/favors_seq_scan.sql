-- Whether p_rows rows that hold all of these words (lexemes) are found sooner by reading the table than by its index: where the words are
-- so common that the index would read more entries than there are rows to read until so many are found.
create or replace function favors_seq_scan(p_table regclass, p_words text[], p_rows int) returns boolean
language sql stable
as $$
  -- 6 entries are read in the time in which a row is
  select coalesce(
    count(*) = cardinality(p_words) and 6::float8 * p_rows < sum(c.rows) * exp(greatest(-100, sum(ln(c.rows / greatest(1, t.rows)::float8)))), false)
  from lexeme_counts c join text_totals t using (of_table)
  where c.of_table = p_table::text and c.lexeme = any(p_words)
$$;
