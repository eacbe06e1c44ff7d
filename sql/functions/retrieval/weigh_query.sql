-- What the words of a query say in the rows of some tables together, for text_candidates: null where it has no words.
--
-- A word weighs min(4, how often the query says it) · idf, where idf = ln(1 + (N − df + 0.5) / (df + 0.5)) is BM25's over all rows of
-- p_tables, df being 1 at least, so that scores of several tables are of one scale. Of many words the p_max_words weightiest are looked for.
--
-- A word that no row holds is read as the commonest of those that are spelt most like it, one letter apart, or two from six letters
-- on; the last one of a short query, which may not be typed to its end, as the commonest that begins with it, if there is one: from four
-- letters on, or two where they are the whole query.
--
-- What is excluded (-word) is out; a phrase in quotes lifts the rows that hold it, and with p_strict leaves out all others. Words that were
-- written since they were counted are known from the rows themselves. The rows of all p_tables are in p_language; null: as our own
-- tables are (see asked_words). Where tables in other languages are searched beside them, p_others, in p_other_languages, a word that
-- one of these holds is no misspelling.
create or replace function weigh_query(
  p_tables text[], p_query text, p_strict boolean default false, p_max_words int default 24, p_language regconfig default null,
  p_others text[] default '{}', p_other_languages regconfig[] default '{}'
) returns weighed_query
language plpgsql stable
set pg_trgm.similarity_threshold = 0.3
set plan_cache_mode = force_generic_plan  -- to plan for the few words of most queries takes longer than to weigh them
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
  asked constant record := read_query(p_query, p_language);
  begun constant text := case when cardinality(asked.words) <= short_query then asked.words[cardinality(asked.words)] end;
  said tsvector := said_words(p_language, left(p_query, max_characters));
  total float8;
  mean_length float8;
  unknown text[];
  elsewhere text[];
  unknown_there text[];
  weighed weighed_query;
begin
  if numnode(asked.all_words) = 0 then
    return null;
  end if;
  if cardinality(asked.words) > p_max_words then
    -- for this call only: the function's own setting is restored behind it
    perform set_config('plan_cache_mode', 'force_custom_plan', true);
  end if;
  select greatest(1, sum(t.rows)), nullif(sum(t.lexemes), 0)::float8 / greatest(1, sum(t.rows)) into total, mean_length
  from text_totals t where t.of_table = any(p_tables);

  unknown := array(
    select w.word from unnest(asked.words) with ordinality w (word, place)
    where (length(w.word) >= shortest_misspelt or w.word = lower(btrim(p_query)) and w.word ~ '^[[:alpha:]]+$' and length(w.word) >= shortest_begun)
      -- each word by its key, whatever is known of the table: counted anew, it has no statistics, and the index of spellings tells what
      -- is equal too, for five times the work, but not what is between
      and not exists (select from lexeme_counts c where c.lexeme between w.word and w.word and c.of_table = any(p_tables) offset 0)
    order by w.place limit max_misspelt);
  if unknown <> '{}' then
    unknown := unwritten(p_tables, unknown);
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
        where not e.there = any(unwritten(p_others, elsewhere)))));
  end if;

  with spelt as (
    select l.lexeme, l.positions, case when l.lexeme = any(unknown) then coalesce((
      select c.lexeme
      from lexeme_counts c
      where l.lexeme = begun and c.lexeme like regexp_replace(begun, '([\\%_])', '\\\1', 'g') || '%' and c.of_table = any(p_tables)
      group by c.lexeme order by sum(c.rows) desc, c.lexeme limit 1
    ), (
      select c.lexeme
      from lexeme_counts c, lateral (select levenshtein_less_equal(
        c.lexeme, l.lexeme, case when length(l.lexeme) <= longest_one_slip then 1 else 2 end) as slips) s
      where length(l.lexeme) >= shortest_misspelt and c.lexeme % l.lexeme and c.of_table = any(p_tables)
        and s.slips <= case when length(l.lexeme) <= longest_one_slip then 1 else 2 end
      group by c.lexeme having sum(c.rows) > 1
      order by ln(sum(c.rows)) + 4 * similarity(c.lexeme, l.lexeme) desc, c.lexeme limit 1))
    end as known
    from unnest(said) l where l.lexeme = any(asked.words)
  ), counted as (
    select w.word, least(most_said, sum(cardinality(w.positions))) as times, (
      select coalesce(sum(c.rows), 1) from lexeme_counts c where c.lexeme between w.word and w.word and c.of_table = any(p_tables)) as df
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
