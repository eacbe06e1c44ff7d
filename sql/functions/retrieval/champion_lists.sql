-- Champion lists (Manning, Raghavan and Schütze 2008, 7.1.3) of some words (lexemes) of a table: the rows that contain each best, best
-- first, at most p_limits of them, ranked as text_candidates does for that word alone, with p_mean_length lexemes per row on average, or by
-- the table's own score of a word (TABLE_word_score, if it exists). The table, of p_rows rows, is read once: the required score of a word
-- is estimated from a sample, so the lists of some words are shorter.
create or replace function champion_lists(
  p_table regclass, p_words text[], p_limits int[], p_rows double precision, p_mean_length double precision
) returns table (word text, ids text[])
language plpgsql stable
set work_mem = '64MB'
set enable_mergejoin = off  -- it would sort the words of all rows, each with its row's text
as $$
declare
  b constant float8 := 0.75;
  share constant float8 := least(1, 20000 / greatest(1, p_rows));  -- the share of the rows in the sample
  nearly constant float8 := 0.95;  -- tolerance, since times_held is approximate
  own_score constant text := to_regproc(p_table || '_word_score') || '(w.words, a.query)';
  -- the ranked text of a row, unpacked once instead of for each word, and the factor for its length
  read constant text := case when own_score is null then 'setweight(t.text_search, ''D'') as words, 1 - $1 + $1 * coalesce(lexemes_held(t.text_search) / nullif($2, 0), 1) as length'
    else 'ts_delete(t.text_search, '''') as words, 1 as length' end;
  nearly_score constant text := coalesce(own_score, 'cardinality(u.positions) / w.length');
  score constant text := coalesce(own_score, 'times_held(w.words, a.query) / w.length');
begin
  return query execute format('
    with asked as materialized (
      select a.word, a.rows, quote_literal(a.word)::tsquery as query from unnest($3, $4) a (word, rows)
    ), sampled as (
      select a.word, (%3$s)::float8 as score
      from %1$s t tablesample system (%5$s) repeatable (1), lateral (select %2$s offset 0) w, unnest(w.words) u, asked a
      where a.word = u.lexeme offset 0
    ), least as materialized (
      select a.word, a.rows, a.query, coalesce((array_agg(s.score order by s.score desc))[ceil(1.2 * a.rows * $5 + 8)], 0) * %6$s as score
      from asked a left join sampled s using (word) group by 1, 2, 3
    ), held as (
      select a.word, a.rows, t.id, %4$s as score
      from %1$s t, lateral (select %2$s offset 0) w, unnest(w.words) u, least a
      where a.word = u.lexeme and %3$s >= a.score
    ), ranked as (
      select h.word, h.rows, h.id, row_number() over (partition by h.word order by h.score desc, h.id) as place from held h
    )
    select r.word, array_agg(r.id order by r.place) from ranked r where r.place <= r.rows group by 1',
    p_table, read, nearly_score, score, 100 * share, nearly)
    using b, p_mean_length, p_words, p_limits, share;
end
$$;
