-- Which rows of a table are worth ranking for some words (lexemes), as two tsqueries, about p_rows rows together: the rare words, each
-- by itself, as long as their rows are at most half of these; then pairs of the others, the rarest first, which are expected in three
-- times as many rows as if words were independent, since those of one topic go together; and where that is little, the rarest of
-- the others by itself.
create or replace function gathered_words(p_table regclass, p_words text[], p_rows int) returns tsquery[]
language sql stable
set plan_cache_mode = force_generic_plan  -- to plan it anew takes longer than to do it
as $$
  with words as materialized (
    select w.word, coalesce(c.rows, 0)::float8 as df, sum(coalesce(c.rows, 0)) over (order by coalesce(c.rows, 0), w.word)::float8 as so_far,
      greatest(1, t.rows)::float8 as total
    from unnest(p_words) w (word)
    left join lexeme_counts c on c.lexeme = w.word and c.of_table = p_table::text
    left join text_totals t on t.of_table = p_table::text
  ), singly as (
    select quote_literal(w.word) as part, w.so_far from words w where w.so_far <= p_rows / 2
  ), pairs as (
    select quote_literal(a.word) || ' & ' || quote_literal(b.word) as part, a.df, least(a.df, 3 * a.df * b.df / a.total) as expected
    from words a join words b on (a.df, a.word) < (b.df, b.word)
    where a.so_far > p_rows / 2
    order by 3, 1 limit 16
  ), summed as (
    select p.part, p.expected, sum(p.expected) over so as so_far, sum(p.df) over so as read, row_number() over so as place
    from pairs p window so as (order by p.expected, p.part)
  ), chosen as (
    select s.* from summed s
    where s.place = 1 or s.read <= 20::float8 * p_rows and s.so_far - s.expected + (select coalesce(max(y.so_far), 0) from singly y) <= p_rows
  )
  select array[
    (select string_agg(y.part, ' | ' order by y.so_far) from singly y)::tsquery,
    concat_ws(' | ', (select string_agg(c.part, ' | ' order by c.place) from chosen c),
      (select quote_literal(w.word) from words w
       where w.so_far > p_rows / 2 and p_rows / 10 > coalesce((select max(y.so_far) from singly y), 0) + coalesce((select max(c.so_far) from chosen c), 0)
       order by w.so_far limit 1))::tsquery]
$$;
