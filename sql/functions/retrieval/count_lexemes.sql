-- Counts anew in how many rows of a table each lexeme of its column text_search stands, if in more than one; searches see the old
-- counts until the end. Words of a single row, numbers and names mostly, would be most of what there is to keep, and are weighed
-- alike without. Returns how many lexemes were counted; null where the table has no such column, or where the number of its rows, as
-- ANALYZE knows it, has changed by less than p_share since.
create or replace function count_lexemes(p_table regclass, p_share double precision default 0) returns int
language plpgsql
set work_mem = '64MB'  -- of very many words, too, none go through the disk
as $$
declare
  longest constant int := 200;  -- characters; what is longer is no word
  counted int;
begin
  perform pg_advisory_xact_lock(p_table::oid::bigint);  -- two that count at once take turns
  if not exists (select from pg_attribute a where a.attrelid = p_table and a.attname = 'text_search' and not a.attisdropped)
    or exists (
      select from text_totals t join pg_class c on c.oid = p_table
      where t.of_table = p_table::text and abs(c.reltuples - t.rows) < p_share * t.rows) then
    return null;
  end if;
  delete from lexeme_counts where of_table = p_table::text;
  delete from text_totals where of_table = p_table::text;
  execute format('
    with stats as materialized (
      select s.word, s.ndoc, s.nentry from ts_stat(%L) s
    ), totals as (
      insert into text_totals (of_table, rows, lexemes)
      select $1, (select count(*) from %s), coalesce(sum(s.nentry), 0) from stats s
    )
    insert into lexeme_counts (lexeme, of_table, rows)
    select s.word, $1, s.ndoc from stats s where s.ndoc > 1 and length(s.word) <= $2', format('select text_search from %s', p_table), p_table)
    using p_table::text, longest;
  get diagnostics counted = row_count;
  return counted;
end
$$;
