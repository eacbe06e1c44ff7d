-- What the rows of a table that the caller may see say of some words (lexemes), for weigh_query: how many rows were looked at, the first
-- p_rows, how many lexemes these hold, and in how many of them each word stands. `p_seen` is the condition over a row `t` that the caller
-- may see it, as SQL, made by the service.
--
-- Counts of all rows, as lexeme_counts has them, would tell a caller by the scores of his rows what other people's rows hold.
create or replace function seen_words(
  p_table text, p_seen text, p_words text[], p_rows int, out rows int, out lexemes double precision, out held int[]
)
language plpgsql stable
set synchronize_seqscans = off  -- the same rows each time
as $$
begin
  execute format(
    'select count(*), coalesce(sum(lexemes_held(s.words)), 0), array[%s]::int[]'
    ' from (select setweight(t.text_search, ''D'') as words from %s t where %s limit $1 offset 0) s',
    (select string_agg(format('count(*) filter (where s.words @@ %L::tsquery)', quote_literal(w.word)), ', ' order by w.place)
     from unnest(p_words) with ordinality w (word, place)),
    p_table::regclass, p_seen)
    into rows, lexemes, held using p_rows;
end
$$;
