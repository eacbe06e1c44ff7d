-- In how many rows of a table each of these words (lexemes) stands in the column text_search, by ANALYZE's estimate; for a word that
-- it does not know, that of the rarest one it knows.
create or replace function expected_rows(p_table regclass, p_words text[]) returns double precision[]
language plpgsql stable
as $$
declare
  total float8;
  of_schema name;
  of_table name;
  known_words text[];
  frequencies float8[];
begin
  select greatest(c.reltuples, 1), n.nspname, c.relname into total, of_schema, of_table
  from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = p_table;
  -- by plain names: a join would read the statistics of every table
  select s.most_common_elems::text::text[], s.most_common_elem_freqs::float8[] into known_words, frequencies
  from pg_stats s where s.schemaname = of_schema and s.tablename = of_table and s.attname = 'text_search';
  -- behind the frequencies of the words, the statistics hold the lowest of them
  return array(
    select total * coalesce(frequencies[array_position(known_words, w.word)], frequencies[cardinality(known_words) + 1], 0.001)
    from unnest(p_words) with ordinality w (word, place) order by w.place);
end
$$;
