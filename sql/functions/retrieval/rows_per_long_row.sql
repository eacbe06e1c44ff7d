-- How many rows of a table have the total length of a long row, of 8,000 lexemes, by the table's mean length at the last count.
create or replace function rows_per_long_row(p_table regclass) returns double precision
language sql stable
as $$
  select 8000 / greatest(1, (select t.lexemes / nullif(t.rows, 0)::float8 from text_totals t where t.of_table = p_table::text))
$$;
