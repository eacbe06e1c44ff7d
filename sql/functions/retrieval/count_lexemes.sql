-- Counts anew in how many rows of a table each lexeme of its column text_search stands; searches see the old counts until the end.
-- Returns how many lexemes there are.
create or replace function count_lexemes(p_table regclass) returns int
language plpgsql
as $$
declare
  longest constant int := 200;  -- characters; what is longer is no word
  counted int;
begin
  perform pg_advisory_xact_lock(p_table::oid::bigint);  -- two that count at once take turns
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
    select s.word, $1, s.ndoc from stats s where length(s.word) <= $2', format('select text_search from %s', p_table), p_table)
    using p_table::text, longest;
  get diagnostics counted = row_count;
  return counted;
end
$$;
