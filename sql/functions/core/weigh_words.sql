-- How much the words (lexemes) of a query say in a table, rarest first, each with its idf, and a tsquery for the rows worth ranking.
-- The work is bounded by p_max_words, max_probes and max_lookups, whatever the words are.
--
-- idf = ln(1 + (N − df + 0.5) / (df + 0.5)), BM25's; df is ANALYZE's estimate for the column text_search, where it has one, and
-- else that of the rarest word it knows. A word that no row holds is read as the most similar word that ANALYZE knows, if there
-- is one: a misspelling.
--
-- `candidates` takes rare words singly, then pairs of the others, then single words again, each time the one with the fewest
-- expected rows first, while the expected rows stay within p_max_candidates; it always takes one. A row that ranks high holds a
-- rare word or several words. A pair is expected in 20 times as many rows as if its words were independent, since words of one
-- topic go together.
--
-- With p_two_words it takes pairs alone, or the query's only word, for a rank that gives nothing to a row with fewer; words are
-- then read as they are written, and `candidates` is null where even the rarest pair has too many rows.
create or replace function weigh_words(
  p_table regclass, p_words text[], p_max_words int, p_max_candidates double precision, p_two_words boolean default false
) returns table (words text[], weights double precision[], candidates tsquery)
language plpgsql stable
as $$
declare
  rare_below constant float8 := p_max_candidates / 10;
  co_occurrence constant float8 := 20;
  misspelling_similarity constant real := 0.4;
  misspelling_length constant int := 4;
  misspelling_length_max constant int := 40;  -- letter by letter a longer one is like no word
  max_probes constant int := 64;  -- words that ANALYZE does not know, which are looked for among the rows
  max_lookups constant int := 8;  -- words that no row holds, which are looked for among the known ones
  total float8;
  of_schema name;
  of_table name;
  known_words text[];
  known_frequencies float8[];
  unknown text[];
  singly boolean;
begin
  words := p_words;
  if coalesce(words, '{}') = '{}' then
    return;
  end if;

  select greatest(c.reltuples, 1), n.nspname, c.relname into total, of_schema, of_table
  from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = p_table;
  -- by plain names: a join would read the statistics of every table
  select s.most_common_elems::text::text[], s.most_common_elem_freqs::float8[] into known_words, known_frequencies
  from pg_stats s where s.schemaname = of_schema and s.tablename = of_table and s.attname = 'text_search';

  unknown := array(
    select u.word from unnest(words) u (word)
    where not p_two_words and length(u.word) >= misspelling_length and not u.word = any(known_words) limit max_probes);
  if cardinality(unknown) > 0 then
    execute format('select array(select u.word from unnest($1) u (word)'
      ' where not exists (select from %s r where r.text_search @@ quote_literal(u.word)::tsquery))', p_table)
      into unknown using unknown;
  end if;
  if cardinality(unknown) > 0 then
    words := array(
      select distinct coalesce((
        select k.word from unnest(known_words) k (word), lateral (select similarity(k.word, u.word) as likeness offset 0) l
        where u.word = any(unknown[:max_lookups]) and length(u.word) <= misspelling_length_max and l.likeness >= misspelling_similarity
        order by l.likeness desc, k.word limit 1), u.word)
      from unnest(words) u (word));
  end if;

  singly := not p_two_words or cardinality(words) = 1;
  with counted as materialized (
    -- behind the frequencies of the words, the statistics hold the lowest of them
    select w.word, greatest(1, total * coalesce(
      known_frequencies[array_position(known_words, w.word)], known_frequencies[cardinality(known_words) + 1], 0.001)) as df
    from unnest(words) w (word)
    order by w.word = any(unknown), 2, 1 limit p_max_words
  ), options as (
    select 1 as turn, quote_literal(c.word) as part, c.df as expected from counted c where c.df <= rare_below and singly
    union all
    select 2, quote_literal(a.word) || ' & ' || quote_literal(b.word), least(a.df, b.df, co_occurrence * a.df * b.df / total)
    from counted a join counted b on (a.df, a.word) < (b.df, b.word) where a.df > rare_below or not singly
    union all
    select 3, quote_literal(c.word), c.df from counted c where c.df > rare_below and singly
  ), taken as (
    select o.part, row_number() over in_order as place, sum(o.expected) over in_order as so_far
    from options o window in_order as (order by o.turn, o.expected, o.part)
  )
  select array_agg(c.word order by c.df, c.word), array_agg(ln(1 + (total - c.df + 0.5) / (c.df + 0.5)) order by c.df, c.word),
    (select string_agg(t.part, ' | ' order by t.place)::tsquery from taken t where t.so_far <= p_max_candidates or t.place = 1 and not p_two_words)
  into words, weights, candidates
  from counted c;
  return next;
end
$$;
