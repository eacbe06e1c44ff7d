-- Where to look for the rows of a table worth ranking for some words (lexemes), about p_rows rows in total, as four tsqueries, the most
-- valuable first, null if there is nothing to look for: the rare words, each by itself, while their rows are at most half of these; more
-- than half of the others together, if pairs may be in far too many rows; pairs, the rarest first, expected in three times as many rows as
-- independent words, since words of one topic occur together; and if that is not much, the rarest of the others by itself.
-- Callers that take the rows in no order do not need the second one: pairs find these rows too.
create or replace function candidate_queries(p_table regclass, p_words text[], p_rows int) returns tsquery[]
language sql stable
set plan_cache_mode = force_generic_plan  -- planning takes longer than running it
as $$
  with words as materialized (
    select w.word, coalesce(c.rows, 0)::float8 as df, sum(coalesce(c.rows, 0)) over (order by coalesce(c.rows, 0), w.word)::float8 as so_far,
      greatest(1, t.rows)::float8 as total
    from unnest(p_words) w (word)
    left join lexeme_counts c on c.lexeme = w.word and c.of_table = p_table::text
    left join text_totals t on t.of_table = p_table::text
  ), singly as (
    select quote_literal(w.word) as part, w.so_far from words w where w.so_far <= p_rows / 2
  ), others as (
    select w.word, row_number() over (order by w.df, w.word)::int - 1 as place, least(5, count(*) over ())::int as words
    from words w where w.so_far > p_rows / 2
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
  ), joined as (
    select string_agg(quote_literal(o.word), ' & ' order by o.place) as part
    from others o, generate_series(1, (1 << o.words) - 1) taken (places)
    where o.words > 2 and o.place < o.words and (taken.places >> o.place) & 1 = 1 and (select sum(p.df) from pairs p) > 4::float8 * p_rows
    group by taken.places having count(*) = max((o.words + 3) / 2)
  )
  select array[
    (select string_agg(y.part, ' | ' order by y.so_far) from singly y)::tsquery,
    (select string_agg(j.part, ' | ' order by j.part) from joined j)::tsquery,
    (select string_agg(c.part, ' | ' order by c.place) from chosen c)::tsquery,
    (select quote_literal(w.word) from words w
     where w.so_far > p_rows / 2 and p_rows / 10 > coalesce((select max(y.so_far) from singly y), 0) + coalesce((select max(c.so_far) from chosen c), 0)
     order by w.so_far limit 1)::tsquery]
$$;
