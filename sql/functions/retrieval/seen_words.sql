-- Statistics of some words (lexemes) in the rows of a table that the caller may see, for weigh_query: the number of rows read, the first
-- p_rows, their number of lexemes, and how many of them contain each word. `p_seen` is the condition that the caller may see a row `t`, as
-- SQL built by the service.
--
-- Counts over all rows, as in lexeme_counts, would let callers infer the content of other people's rows from the scores of their own.
create or replace function seen_words(
  p_table text, p_seen text, p_words text[], p_rows int, out rows int, out lexemes double precision, out held int[]
)
language plpgsql stable
set synchronize_seqscans = off  -- reads the same rows each time
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
