-- The rows of a table that hold some words (lexemes) best, of each word best first, at most p_limits of these: as text_candidates ranks them
-- for that word alone, where a row has p_mean_length lexemes on average. The table, of p_rows rows, is read once: how well a row must
-- hold a word follows from a sample, so of few words there are fewer.
create or replace function holding_best(
  p_table regclass, p_words text[], p_limits int[], p_rows double precision, p_mean_length double precision
) returns table (word text, ids text[])
language plpgsql stable
set work_mem = '64MB'
as $$
declare
  b constant float8 := 0.75;
  share constant float8 := least(1, 20000 / greatest(1, p_rows));  -- of the rows, the sample
  nearly constant float8 := 0.95;  -- as well: times_held is not exact
begin
  return query execute format('
    with sampled as (
      select u.lexeme, cardinality(u.positions) / (1 - $1 + $1 * lexemes_held(t.text_search) / $2) as score
      from %1$s t tablesample system (%2$s) repeatable (1), unnest(t.text_search) u
      where u.lexeme = any($3)
    ), least as materialized (
      select w.word, w.rows, coalesce((array_agg(s.score order by s.score desc))[ceil(1.2 * w.rows * $5 + 8)], 0) * %3$s as score
      from unnest($3, $4) w (word, rows) left join sampled s on s.lexeme = w.word group by 1, 2
    ), held as (
      select l.word, l.rows, t.id, times_held(w.words, quote_literal(l.word)::tsquery) / w.length as score
      from %1$s t, lateral (
          select setweight(t.text_search, ''D'') as words, 1 - $1 + $1 * lexemes_held(t.text_search) / $2 as length offset 0) w,
        unnest(t.text_search) u, least l
      where l.word = u.lexeme and cardinality(u.positions) >= l.score * w.length
    ), ranked as (
      select h.word, h.rows, h.id, row_number() over (partition by h.word order by h.score desc, h.id) as place from held h
    )
    select r.word, array_agg(r.id order by r.place) from ranked r where r.place <= r.rows group by 1',
    p_table, 100 * share, nearly)
    using b, p_mean_length, p_words, p_limits, share;
end
$$;
