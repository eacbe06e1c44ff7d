-- The rows of one table that contain words of a query, best first, at most p_limit, by BM25 (Robertson and Zaragoza 2009; k1 1.2, b 0.75):
--
--   Σ over words: weight · (k1 + 1) · tf / (tf + k1 · (1 − b + b · length / mean length)),   divided by the maximum
--
-- plus, for the best rows, nearness · weight for each pair of adjacent query words that are adjacent in the row. So text_score is between 0
-- and a little above 1, and has the same meaning in every table that the query was weighed for.
--
-- `coverage` is the weighted share of the query's weightiest words, max_covered of them, in a row: 1 for all.
--
-- tf and length are derived from ts_rank of a tsvector: see times_held, lexemes_held.
--
-- The work does not depend on the query: rare words are looked up singly, others together, while the expected rows stay within p_rows. A
-- row that ranks high contains a rare word or several words. At most p_rows are ranked, or more for a query of up to three words, since the
-- cost of a row grows with its ranked words; for a large table, more by the cube root of its relative size. A text vector is read as a
-- whole: of long rows, as many are ranked as have the total length of p_rows long ones (rows_per_long_row), and at least as many as
-- requested. For a word in many rows, its known best rows are ranked, and those written since (champion_rows); for several such words in
-- too many rows together, the best of each, and as many of the others as fit.
--
-- If all words are in so many rows that an index would read more entries than there are rows to read until enough are found, the table is
-- read instead: both return the rows in the order stored.
--
-- An index knows words, not phrases: if a phrase is required or excluded, max_looked_at rows with the words are checked; the same applies
-- if the index would have to read more than max_postings entries for the exclusions.
--
-- `p_filter` is an SQL condition on a row `t` of the table: only rows that meet it are found. It is built by the service, never taken from
-- a caller's text. If it leaves few rows, any word suffices. p_fitting are the ids of the rows that meet it, if they are known; with them
-- no filter is needed. p_fits_many: they are unknown, but more than few.
create or replace function text_candidates(
  p_table regclass, p_query weighed_query, p_limit int, p_filter text default null, p_rows int default 2000,
  p_fitting text[] default null, p_fits_many boolean default false
) returns table (id text, text_score double precision, coverage double precision)
language plpgsql stable
set work_mem = '32MB'  -- the owners of related rows that no index finds are read once, into memory
set enable_seqscan = on
set enable_bitmapscan = on
set synchronize_seqscans = off
as $$
declare
  k1 constant float8 := 1.2;
  b constant float8 := 0.75;
  nearness constant float8 := 0.5;
  least_ranked constant int := greatest(p_limit, 100);  -- pairs are searched for in this many of the best rows
  any_word constant tsquery := (select string_agg(quote_literal(w), ' | ')::tsquery from unnest((p_query).words) w);
  few constant int := 1000;
  few_words constant int := 3;
  wider constant int := 10;  -- factor for a single word
  looked_at constant int := 5;  -- factor to the ranked rows of a query of many words
  large constant float8 := 100000;  -- rows of a table
  larger constant float8 := greatest(1, cbrt((select c.reltuples from pg_class c where c.oid = p_table) / large));
  within_length constant float8 := greatest(least_ranked, larger * p_rows * rows_per_long_row(p_table));
  max_ranked constant int := least(1e9, within_length, larger * p_rows
    * case when cardinality((p_query).words) <= few_words then wider / cardinality((p_query).words) else 1 end);
  max_covered constant int := 6;
  is_filtered constant boolean := p_filter is not null or p_fitting is not null;
  condition constant text := case
    -- not `any`, which the planner would estimate id by id
    when cardinality(p_fitting) > few then 'and t.id in (select unnest($3)) is true'
    when p_fitting is not null then 'and t.id = any($3)' else coalesce('and (' || p_filter || ')', '') end;
  of_best constant text := format('(select * from %s t where t.id = any($1) offset 0) t', p_table);  -- only the index of ids
  required constant tsquery := case when numnode((p_query).required) > 0 then (p_query).required end;
  holds_phrase constant boolean := coalesce(required::text like '%<%', false);
  max_postings constant float8 := larger * 150000;
  is_tested constant boolean := holds_phrase or coalesce(max_postings < (
    select sum(c.rows) from lexeme_counts c, regexp_matches(required::text, $re$'((?:[^']|'')+)'$re$, 'g') m (word)
    where c.of_table = p_table::text and c.lexeme = replace(m.word[1], '''''', '''')), false);
  indexed constant tsquery := case when is_tested
    then bounded_index_query(p_table, required, case when holds_phrase then 'infinity' else max_postings end) else required end;
  max_looked_at constant int := least(1e9, within_length, larger * p_rows * looked_at);
  max_listed constant int := 4;  -- words
  listed constant int := max_ranked / 4 / least(max_listed, cardinality((p_query).words));
  words_held constant int := (least(5, cardinality((p_query).words)) + 3) / 2 - (cardinality((p_query).words) = 1)::int;  -- see candidate_queries
  wanted tsquery[];
  best text[];
  rows_left int := case when p_fits_many then few + 1 else cardinality(p_fitting) end;
  rows_ranked int;
  rows_taken int;
  reads boolean;
begin
  if any_word is null then
    return;
  end if;
  if p_filter is not null and rows_left is null then
    execute format('select count(*) from (select from %s t where %s limit %s) t', p_table, p_filter, few + 1) into rows_left;
  end if;
  if cardinality((p_query).words) = 1 and (rows_left is null or rows_left > few) then
    -- rows that fail the other conditions are replaced by the next
    best := champion_rows(p_table, (p_query).words[1], case when not is_filtered and required is null then 2 * least_ranked end, least(p_rows, max_ranked) / 2);
    if best is not null and (is_filtered or required is not null) then
      execute format('select array(select t.id from %s where t.text_search @@ $2 %s)', of_best, condition)
        into best using best, coalesce(any_word && required, any_word), p_fitting;
    end if;
  end if;
  if rows_left <= least(few, max_ranked) or cardinality((p_query).words) = 1 then
    wanted := case when best is null or cardinality(best) < least_ranked then array[any_word] else '{}' end;
  else
    -- if the rarest word is common: the best rows of each word, if too many rows contain all words; if few do, those of the rarest,
    -- which would otherwise be looked up by itself
    best := champion_rows(p_table, (p_query).words[1], listed, max_ranked / 2);
    if best is not null then
      best := (
        select case
          when together.rows > max_ranked then array(
            select unnest(best)
            union select unnest(champion_rows(p_table, w.word, listed, max_ranked / 2)) from unnest((p_query).words[2:max_listed]) w (word))
          when together.rows < max_ranked / 30 then best end
        from lexeme_counts one, lexeme_counts other, text_totals t, lateral (select one.rows::float8 * other.rows / t.rows as rows) together
        where one.of_table = p_table::text and one.lexeme = (p_query).words[1]
          and other.of_table = p_table::text and other.lexeme = (p_query).words[2] and t.of_table = p_table::text);
    end if;
    wanted := candidate_queries(p_table, (p_query).words, max_ranked);
    wanted := array_remove(case when best is null then wanted else wanted[:3] end, null);
  end if;
  if required is not null then
    -- one query for both: the index applies the exclusions
    wanted := array(select w.query && indexed from unnest(wanted) with ordinality w (query, place) order by w.place);
  end if;

  rows_ranked := case when cardinality((p_query).words) = 1 and best is not null then least(p_rows, max_ranked) + cardinality(best) else max_ranked end;
  rows_taken := case when is_tested then max_looked_at else rows_ranked end;
  reads := not is_filtered and coalesce(numnode(indexed), 0) = 0 and favors_seq_scan(p_table, (p_query).words[:words_held], rows_taken);
  -- not the planner's choice, which assumes unknown words are common enough to find by reading the table up to the limit; for this
  -- call only: the function's own settings are restored after it
  perform set_config('enable_seqscan', reads::text, true), set_config('enable_bitmapscan', (not reads)::text, true);
  return query execute format('
    select s.id, (s.score %1$s) / $4, (%2$s)::float8 from (
      select d.id, d.words, (%3$s)::float8 as score from (
        select f.id, f.words, %4$s * (1 - %5$s + %5$s * f.length / coalesce($5, f.length)) as k from (
          select w.id, w.words, lexemes_held(w.words) as length from (
            select w.id, setweight(w.words, ''D'') as words from (%6$s limit %7$s offset 0) w %9$s offset 0
          ) w offset 0
        ) f offset 0
      ) d order by 3 desc, 1 limit %8$s
    ) s order by 2 desc, 1 limit $8',
    (select string_agg(format('+ %s * least(1, 10 * ts_rank_cd(s.words, %L::tsquery))', nearness * n.weight, n.pair), ' ')
     from unnest((p_query).near, (p_query).near_weights) n (pair, weight)),
    (select string_agg(format('%s * (s.words @@ %L::tsquery)::int', w.share, quote_literal(w.word)), ' + ')
     from (
       select h.word, h.weight / sum(h.weight) over () as share from unnest((p_query).words, (p_query).weights) h (word, weight)
       order by h.weight desc, h.word limit max_covered
     ) w),
    (select string_agg(format('%s * (1 - d.k / (times_held(d.words, %L::tsquery) + d.k))',
      (k1 + 1) * w.weight, quote_literal(w.word)), ' + ')
     from unnest((p_query).words, (p_query).weights) w (word, weight)),
    k1, b, (
      select string_agg(format('select t.id, t.text_search as words from %s where %s %s', l.rows, l.held, condition), ' union all ')
      from (
        select of_best as rows, 't.text_search @@ $6' as held where best is not null
        union all
        select p_table || ' t', concat_ws(' and ', format('t.text_search @@ ($2)[%s]', w.place),
          (select string_agg(format('not t.text_search @@ ($2)[%s]', earlier), ' and ') from generate_series(1, w.place - 1) earlier),
          case when best is not null then 'not t.id = any($1)' end)
        from generate_series(1, cardinality(wanted)) w (place)
      ) l),
    rows_taken, least_ranked,
    case when is_tested then format('where w.words @@ $7 limit %s', rows_ranked) end)
    using best, wanted, p_fitting, (p_query).possible, (p_query).mean_length, coalesce(any_word && required, any_word), required, p_limit;
end
$$;
