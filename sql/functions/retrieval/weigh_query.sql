-- The weights of a query's words in the rows of some tables together, for text_candidates: null if it has no words.
--
-- A word weighs min(4, its occurrences in the query) · idf, where idf = ln(1 + (N − df + 0.5) / (df + 0.5)) is BM25's over all rows of
-- p_tables, with df at least 1, so that scores of several tables are on one scale. Of many words, the p_max_words weightiest are used.
--
-- A word in no row is read as the most common of the most similar words: one typo, or two from six letters on. The last word of a short
-- query, which may be incomplete, is read as the most common word that starts with it, if there is one: from four letters on, or two if
-- they are the whole query.
--
-- Exclusions (-word) are left out; a quoted phrase raises the rows with it, and with p_strict leaves out all others. Words written since
-- the last count are known from the rows themselves. The rows of all p_tables are in p_language; null: like our own tables (see
-- asked_words). If tables in other languages are searched too, p_others, in p_other_languages, their words are not misspellings.
--
-- If a caller may not see all rows of a table, p_seen (and p_others_seen) has the condition that a row `t` may be seen, as SQL built by the
-- service; null for other tables. For such a table only the first max_seen visible rows count, so hidden rows change no weight and no
-- spelling. These rows are read once, and once more for a word that none of them contains.
create or replace function weigh_query(
  p_tables text[], p_query text, p_strict boolean default false, p_max_words int default 24, p_language regconfig default null,
  p_others text[] default '{}', p_other_languages regconfig[] default '{}', p_seen text[] default '{}', p_others_seen text[] default '{}'
) returns weighed_query
language plpgsql stable
set pg_trgm.similarity_threshold = 0.3
set plan_cache_mode = force_generic_plan  -- planning for the few words of most queries takes longer than weighing them
as $$
declare
  max_characters constant int := 4000;
  most_said constant int := 4;
  shortest_misspelt constant int := 4;
  shortest_begun constant int := 2;
  longest_one_slip constant int := 5;
  max_misspelt constant int := 8;
  max_pairs constant int := 8;
  saturation constant float8 := 2.2;  -- k1 + 1 of BM25, see text_candidates
  short_query constant int := 3;  -- words
  max_seen constant int := 500;
  max_seen_words constant int := 60;  -- the first words of a query
  of_all constant text[] := array(
    select t.name from unnest(p_tables) with ordinality t (name, place) where p_seen[t.place] is null order by t.place);
  is_all constant boolean := cardinality(of_all) = cardinality(p_tables);
  asked record := read_query(p_query, p_language);
  begun constant text := case when cardinality(asked.words) <= short_query then asked.words[cardinality(asked.words)] end;
  said tsvector := said_words(p_language, left(p_query, max_characters));
  total float8;
  mean_length float8;
  unknown text[];
  elsewhere text[];
  unknown_there text[];
  seen record;
  looked_in text[] := of_all;
  looked_at text[] := array_fill(null::text, array[cardinality(of_all)]);
  known_words text[] := '{}';  -- in visible rows,
  known_rows int[] := '{}';  -- and the number of these rows with each
  weighed weighed_query;
begin
  if numnode(asked.all_words) = 0 then
    return null;
  end if;
  if cardinality(asked.words) > p_max_words then
    -- for this call only: the function's own setting is restored after it
    perform set_config('plan_cache_mode', 'force_custom_plan', true);
  end if;
  select coalesce(sum(t.rows), 0), coalesce(sum(t.lexemes), 0) into total, mean_length from text_totals t where t.of_table = any(of_all);
  if not is_all then
    asked.words := asked.words[:max_seen_words];
    for place in 1 .. cardinality(p_tables) loop
      continue when p_seen[place] is null;
      seen := seen_words(p_tables[place], p_seen[place], asked.words, max_seen);
      total := total + seen.rows;
      mean_length := mean_length + seen.lexemes;
      known_words := known_words || asked.words;
      known_rows := known_rows || seen.held;
      if seen.rows = max_seen then  -- there may be more
        looked_in := looked_in || p_tables[place];
        looked_at := looked_at || p_seen[place];
      end if;
    end loop;
  end if;
  total := greatest(1, total);
  mean_length := nullif(mean_length, 0) / total;

  unknown := array(
    select w.word from unnest(asked.words) with ordinality w (word, place)
    where (length(w.word) >= shortest_misspelt or w.word = lower(btrim(p_query)) and w.word ~ '^[[:alpha:]]+$' and length(w.word) >= shortest_begun)
      and not has_paired_letters(w.word)  -- a pair of letters is not a slip of another
      -- each word by its key, regardless of statistics, which the table lacks after a recount; the spelling index would also find equal
      -- words, at five times the cost, but not ranges
      and not exists (select from lexeme_counts c where c.lexeme between w.word and w.word and c.of_table = any(of_all) offset 0)
      and not exists (select from unnest(known_words, known_rows) k (word, rows) where k.word = w.word and k.rows > 0)
    order by w.place limit max_misspelt);
  if unknown <> '{}' then
    unknown := unwritten(looked_in, unknown, looked_at);
  end if;
  if unknown <> '{}' and p_others <> '{}' then
    select array_agg(k.lexeme), array_agg(l.lexeme) into elsewhere, unknown_there
    from regexp_matches(left(p_query, max_characters), '[^\s"]+', 'g') m (part), unnest(said_words(p_language, m.part[1])) l,
      unnest(p_other_languages) o (language), unnest(said_words(o.language, m.part[1])) k
    where l.lexeme = any(unknown);
    unknown := array(
      select u.word from unnest(unknown) u (word)
      where not u.word = any(array(
        select e.here from unnest(elsewhere, unknown_there) e (there, here)
        where not e.there = any(unwritten(p_others, elsewhere, p_others_seen)))));
  end if;
  if unknown <> '{}' and not is_all then
    select known_words || coalesce(array_agg(k.lexeme), '{}'), known_rows || coalesce(array_agg(k.rows), '{}') into known_words, known_rows
    from generate_subscripts(p_tables, 1) place, words_seen_like(p_tables[place], p_seen[place], unknown, case when begun = any(unknown) then begun end, max_seen) k
    where p_seen[place] is not null and not k.lexeme = any(asked.words);
  end if;

  with spelt as (
    select l.lexeme, l.positions, case when l.lexeme = any(unknown) then coalesce((
      select c.lexeme
      from (
        select c.lexeme, c.rows from lexeme_counts c
        where l.lexeme = begun and c.lexeme like regexp_replace(begun, '([\\%_])', '\\\1', 'g') || '%' and c.of_table = any(of_all)
        union all
        select k.lexeme, k.rows from unnest(known_words, known_rows) k (lexeme, rows)
        where l.lexeme = begun and starts_with(k.lexeme, begun) and k.rows > 0
      ) c
      group by c.lexeme order by sum(c.rows) desc, c.lexeme limit 1
    ), (
      select c.lexeme
      from (
        select c.lexeme, c.rows from lexeme_counts c where c.lexeme % l.lexeme and c.of_table = any(of_all)
        union all
        select k.lexeme, k.rows from unnest(known_words, known_rows) k (lexeme, rows) where k.lexeme % l.lexeme and k.rows > 0
      ) c, lateral (select levenshtein_less_equal(
        c.lexeme, l.lexeme, case when length(l.lexeme) <= longest_one_slip then 1 else 2 end) as slips) s
      where length(l.lexeme) >= shortest_misspelt and s.slips <= case when length(l.lexeme) <= longest_one_slip then 1 else 2 end
      group by c.lexeme having sum(c.rows) > 1
      order by ln(sum(c.rows)) + 4 * similarity(c.lexeme, l.lexeme) desc, c.lexeme limit 1))
    end as known
    from unnest(said) l where l.lexeme = any(asked.words)
  ), counted as (
    select w.word, least(most_said, sum(cardinality(w.positions))) as times, (
      select greatest(1, coalesce(sum(c.rows), 0)) from (
        select c.rows from lexeme_counts c where c.lexeme between w.word and w.word and c.of_table = any(of_all)
        union all
        select k.rows from unnest(known_words, known_rows) k (word, rows) where k.word = w.word) c) as df
    from (select coalesce(s.known, s.lexeme) as word, s.positions from spelt s) w
    group by w.word
  ), words as materialized (
    select c.word, c.df, c.times * i.idf as weight, i.idf
    from counted c, lateral (
      select ln(1 + greatest(0, coalesce(total, 1) - c.df + 0.5) / (c.df + 0.5))::float8 as idf) i
    order by 3 desc, 1 limit p_max_words
  ), placed as materialized (
    select w.word, w.idf, p.place
    from spelt s join words w on w.word = coalesce(s.known, s.lexeme), unnest(s.positions) p (place)
  ), beside as (
    select (quote_literal(least(a.word, b.word)) || ' & ' || quote_literal(greatest(a.word, b.word)))::tsquery as pair, least(a.idf, b.idf) as weight
    from placed a join placed b on b.place = a.place + 1 and b.word <> a.word
    group by 1, 2 order by 2 desc, 1 limit max_pairs
  ), quoted as (
    select p.phrase as pair, min(w.idf) as weight
    from unnest(asked.phrases) p (phrase) join words w on w.word = any(tsvector_to_array(to_tsvector('simple', p.phrase::text)))
    group by 1
  ), near as (
    select b.* from beside b
    union all
    select q.* from quoted q
  )
  select array_agg(w.word order by w.df, w.word), array_agg(w.weight order by w.df, w.word), mean_length, saturation * sum(w.weight),
    case when p_strict then asked.required else asked.excluded end, (select array_agg(n.pair order by n.weight desc, n.pair) from near n),
    (select array_agg(n.weight order by n.weight desc, n.pair) from near n)
  into weighed from words w;
  return weighed;
end
$$;
