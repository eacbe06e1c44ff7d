-- Counts how many rows of a table contain each lexeme in text_search, if more than one; searches see the old counts until the end. Words of
-- a single row, mostly numbers and names, would be most of the counts, and weigh the same without them. Returns the number of lexemes
-- counted; null if the table has no such column, or if its number of rows, according to ANALYZE, has changed by less than p_share since,
-- and searches still know all changed rows (champion_rows).
--
-- For tables with recorded changes (note_changed_texts), words in more than least_common rows, max_common of them, also keep their best
-- rows: a tenth of the rows, or least_best or max_best of them. Fewer long rows are ranked (text_candidates), so in tables with long rows a
-- word is common at a lower count.
create or replace function count_lexemes(p_table regclass, p_share double precision default 0) returns int
language plpgsql
set work_mem = '64MB'  -- so that even very many words are not sorted on disk
as $$
declare
  longest constant int := 200;  -- characters; longer lexemes are not words
  least_common constant int := 1000;
  max_common constant int := 5000;
  least_best constant int := 200;
  max_best constant int := 1000;
  max_changed constant int := 500;
  counted int;
begin
  perform pg_advisory_xact_lock(p_table::oid::bigint);  -- concurrent counts take turns
  if not exists (select from pg_attribute a where a.attrelid = p_table and a.attname = 'text_search' and not a.attisdropped)
    or exists (
      select from text_totals t join pg_class c on c.oid = p_table
      where t.of_table = p_table::text and abs(c.reltuples - t.rows) < p_share * t.rows)
    and (select count(*) from (select from text_changes c where c.of_table = p_table::text limit max_changed + 1) c) <= max_changed then
    return null;
  end if;
  -- before the rows are read, so that concurrent writes stay recorded
  delete from text_changes where of_table = p_table::text;
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
  if exists (select from pg_trigger where tgname = 'texts_noted_insert' and tgrelid = p_table) then
    -- materialized: without statistics for these counts, the table would be read once for each of them
    with common as (
      select array_agg(l.lexeme) as words, array_agg(greatest(least_best, least(max_best, l.rows / 10))) as limits
      from (
        select l.lexeme, l.rows
        from lexeme_counts l, greatest(least_best, least_common * least(1, rows_per_long_row(p_table))) many
        where l.of_table = p_table::text and l.rows > many
        order by l.rows desc, l.lexeme limit max_common
      ) l
    ), best as materialized (
      select h.word, h.ids
      from text_totals t, common, champion_lists(p_table, common.words, common.limits, t.rows, t.lexemes / nullif(t.rows, 0)::float8) h
      where t.of_table = p_table::text
    )
    update lexeme_counts c set best_rows = b.ids from best b where c.of_table = p_table::text and c.lexeme = b.word;
  end if;
  return counted;
end
$$;
