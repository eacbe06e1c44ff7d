-- The rows of one table that hold words of a query, best first, at most p_limit, by BM25 (Robertson and Zaragoza 2009; k1 1.2, b 0.75):
--
--   Σ over words: weight · (k1 + 1) · tf / (tf + k1 · (1 − b + b · length / mean length)),   divided by the most that can be reached
--
-- plus, of the best, nearness · weight for each pair of neighbours in the query that stand together in the row. text_score is
-- therefore between 0 and a little above 1, and means the same in every table that the query was weighed for.
--
-- `coverage` is the share that a row holds of the query's weightiest words, max_covered of them, by their weights: 1 for all.
--
-- A tsvector tells neither tf nor length. ts_rank of one word of weight 0.1 is 0.1 · Σ 1/i² for i up to tf, over π²/6, which is inverted
-- here (exact to two occurrences, near beyond); normalised by length it gives the length.
--
-- The work does not depend on the query: rare words are looked up singly, others in pairs, while the rows expected stay within
-- p_rows. A row that ranks high holds a rare word or several words. At most p_rows are ranked, or, since a row costs as much as the
-- words that it is ranked for, so many more of a query of up to three: of a single common one, all rows that hold it are as good.
--
-- `p_filter` is a condition over a row `t` of the table, as SQL: only rows that meet it are found. It is made by the service, never
-- taken from a caller's text. Where it leaves few rows, any word will do.
create or replace function text_candidates(
  p_table regclass, p_query weighed_query, p_limit int, p_filter text default null, p_rows int default 2000
) returns table (id text, text_score double precision, coverage double precision)
language plpgsql stable
set synchronize_seqscans = off
as $$
declare
  k1 constant float8 := 1.2;
  b constant float8 := 0.75;
  nearness constant float8 := 0.5;
  weights constant real[] := '{0.1,0.1,0.1,0.1}';  -- all places count alike
  least_compared constant int := 100;  -- of the best, in which pairs are looked for
  any_word constant tsquery := (select string_agg(quote_literal(w), ' | ')::tsquery from unnest((p_query).words) w);
  few constant int := 1000;
  few_words constant int := 3;
  wider constant int := 10;  -- times, for one word
  max_ranked constant int := p_rows * case when cardinality((p_query).words) <= few_words then wider / cardinality((p_query).words) else 1 end;
  max_covered constant int := 6;
  condition constant text := coalesce('and (' || p_filter || ')', '');
  wanted tsquery[];
  rows_left int;
begin
  if any_word is null then
    return;
  end if;
  if p_filter is not null then
    execute format('select count(*) from (select from %s t where %s limit %s) t', p_table, p_filter, few + 1) into rows_left;
  end if;
  wanted := case when rows_left <= few then array[any_word] else gathered_words(p_table, (p_query).words, max_ranked) end;
  if numnode((p_query).required) > 0 then
    -- one query of both: the index tells what is excluded
    wanted := array(
      select case when numnode(w.query) > 0 then w.query && (p_query).required end from unnest(wanted) with ordinality w (query, place) order by w.place);
  end if;

  return query execute format('
    select s.id, (s.score %1$s) / $5, (%9$s)::float8 from (
      select d.id, d.words, (%2$s)::float8 as score from (
        select f.id, f.words, %3$s * (1 - %4$s + %4$s * f.length / coalesce($6, f.length)) as k from (
          select w.id, w.words, (ts_rank($7, w.words, $1) / ts_rank($7, w.words, $1, 2))::float8 as length from (
            select t.id, t.text_search as words from %5$s t where t.text_search @@ $2 %6$s
            union all
            select t.id, t.text_search from %5$s t where t.text_search @@ $3 and not t.text_search @@ $2 %6$s
            limit %7$s offset 0
          ) w offset 0
        ) f offset 0
      ) d order by 3 desc, 1 limit %8$s
    ) s order by 2 desc, 1 limit $4',
    (select string_agg(format('+ %s * least(1, 10 * ts_rank_cd($7, s.words, %L::tsquery))', nearness * n.weight, n.pair), ' ')
     from unnest((p_query).near, (p_query).near_weights) n (pair, weight)),
    (select string_agg(format('%s * (1 - d.k / (0.67545 / (1.013203 - 10 * ts_rank($7, d.words, %L::tsquery)) - 0.66665 + d.k))',
      (k1 + 1) * w.weight, quote_literal(w.word)), ' + ')
     from unnest((p_query).words, (p_query).weights) w (word, weight)),
    k1, b, p_table, condition, max_ranked, greatest(p_limit, least_compared),
    (select string_agg(format('%s * (s.words @@ %L::tsquery)::int', w.share, quote_literal(w.word)), ' + ')
     from (
       select h.word, h.weight / sum(h.weight) over () as share from unnest((p_query).words, (p_query).weights) h (word, weight)
       order by h.weight desc, h.word limit max_covered
     ) w))
    using any_word, coalesce(wanted[1], ''), coalesce(wanted[2], ''), p_limit, (p_query).possible,
      (p_query).mean_length, weights;
end
$$;
