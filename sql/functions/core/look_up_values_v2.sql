-- Possible meanings of a question's words in the data. `p_words` are its words in order, folded; `p_forms` other forms of the words at
-- `p_forms_at`; `p_phrases` phrases that the words from `p_phrases_first` to before `p_phrases_last` may mean, in the given facet or, if
-- that is null, in any. A row says that the words from `first` to before `last`, counted from 0, may mean `value`:
--   whole  they are the whole value, except for inflection and spaces (a single stop word: exactly);
--   part   the word is a rare part of the value; `value_stems` are the stems of all its words;
--   words  `value_stems` are the stems of the question's words: the one row that is always returned;
--   near   the word is unknown in the data, and `value` has the similar stem in `value_stems`; for the words at `p_doubtful`
--          whose stems have at most 40 letters;
--   held   `value` has the stem of a word at `p_doubtful`.
-- The values of a table are those of its owner in `p_owners`: '' for everybody's values, null for none. If a caller may not see every value
-- (`p_may_hide`), the calling code decides from `held` which words are known, and `near` is returned for all of them.
-- Every part is looked up in an index, for at most 300 words.
create or replace function look_up_values_v2(
  p_tables text[],
  p_words text[],
  p_forms_at int[] default '{}',
  p_forms text[] default '{}',
  p_phrases text[] default '{}',
  p_phrases_first int[] default '{}',
  p_phrases_last int[] default '{}',
  p_phrases_facet text[] default '{}',
  p_doubtful int[] default '{}',
  p_owners text[] default '{}',
  p_may_hide boolean default false
) returns table (
  match text, first int, last int, table_name text, facet text, value text, row_count int, value_stems text[]
)
language sql stable
set pg_trgm.similarity_threshold = 0.3
set enable_seqscan = off
set plan_cache_mode = force_generic_plan  -- planning for hundreds of words takes twice as long as looking them up
as $$
  with words as materialized (
    select w.place::int as place, f.word, word_stem(f.word) as stem, ts_lexize('english_stem', f.word) = '{}' as is_stop_word
    from unnest(p_words[:300]) with ordinality w (word, place), translate(w.word, '.''', '') f (word)
  ), said as (
    select w.place, w.word, true as ends_a_run from words w
    union
    -- there are several for each word: what no value has a word of ends none of several words
    select f.place + 1, f.word, exists (
      select from facet_words c where c.stem = coalesce((ts_lexize('english_stem', f.word))[1], f.word) offset 0)
    from unnest(p_forms_at, p_forms) f (place, word) where f.place < 300
  ), before as materialized (
    select b.place, n.length, n.stems
    from (
      select w.place, lag(w.stem, 1) over o as one, lag(w.stem, 2) over o as two, lag(w.stem, 3) over o as three,
        lag(w.stem, 4) over o as four, lag(w.stem, 5) over o as five
      from words w window o as (order by w.place)
    ) b, lateral (values (1, ''), (2, one), (3, two || one), (4, three || two || one), (5, four || three || two || one),
      (6, five || four || three || two || one)) n (length, stems)
    where n.stems is not null
  ), runs as materialized (
    select distinct s.place - b.length as first, s.place as last,
      case when b.length = 1 and ts_lexize('english_stem', s.word) = '{}' then s.word end as stop_word, null as facet,
      coalesce((ts_lexize('english_stem', t.phrase))[1], t.phrase) as phrase  -- word_stem, which is called for each row
    from said s join before b on b.place = s.place and (s.ends_a_run or b.length = 1),
      lateral (select b.stems || s.word as phrase offset 0) t
    union
    select p.first, p.last, null, p.facet, phrase_key(folded_words(p.phrase))
    from unnest(p_phrases, p_phrases_first, p_phrases_last, p_phrases_facet) p (phrase, first, last, facet)
  ), known as materialized (
    select distinct f.phrase from facet_values f
    where f.phrase = any(array(select r.phrase from runs r)) and f.table_name = any(p_tables) and f.scope = p_owners[array_position(p_tables, f.table_name)]
  ), frequency as materialized (
    select w.place, w.stem, w.is_stop_word, k.in_tables, k.in_all
    from (select * from words w where w.word <> '') w, lateral (
      select coalesce(sum(c.value_count) filter (where c.table_name = any(p_tables)), 0) as in_tables,
        coalesce(sum(c.value_count), 0) as in_all
      from facet_words c where c.stem = w.stem
    ) k
  )
  select 'words', 0, 0, null, null, null, null::int, array(select w.stem from words w order by w.place)
  union all
  select 'whole', r.first, r.last, v.table_name, v.facet, v.value, v.row_count, null::text[]
  from known k join runs r using (phrase), lateral (
    select f.* from facet_values f
    where f.phrase = r.phrase and f.table_name = any(p_tables) and f.scope = p_owners[array_position(p_tables, f.table_name)]
      and (r.facet is null or f.facet = r.facet) and (r.stop_word is null or folded_words(f.value) = array[r.stop_word])
    limit 60
  ) v
  union all
  select 'part', k.place - 1, k.place, v.table_name, v.facet, v.value, v.row_count, v.stems
  from frequency k, lateral (
    select f.* from facet_values f
    where f.stems @> array[k.stem] and cardinality(f.stems) > 1 and f.table_name = any(p_tables) and f.scope = p_owners[array_position(p_tables, f.table_name)]
    limit 40
  ) v
  where k.in_tables between 1 and 40 and k.in_all <= 400 and length(k.stem) > 1 and not k.is_stop_word
  union all
  select distinct 'near', k.place - 1, k.place, v.table_name, v.facet, v.value, v.row_count, array[n.stem]
  from (
    select f.*, length(f.stem) as length from frequency f
    where f.place - 1 = any(p_doubtful) and (f.in_tables = 0 or p_may_hide) and length(f.stem) <= 40
  ) k, lateral (
    -- by their spelling first: all words of a table would be compared
    (select n.stem
     from (
       select * from facet_words n
       where n.stem % k.stem
         and array[length(n.stem)] && array[k.length - 2, k.length - 1, k.length, k.length + 1, k.length + 2] offset 0
     ) n
     where n.table_name = any(p_tables) and n.stem <> k.stem
     order by similarity(n.stem, k.stem) desc limit 8)
    union all
    select n.stem
    from generate_series(1, length(k.stem) - 1) s (place), lateral (
      select n.stem from facet_words n
      where n.stem = overlay(k.stem placing reverse(substr(k.stem, s.place, 2)) from s.place for 2) and n.table_name = any(p_tables)
        and n.stem <> k.stem
      limit 1
    ) n
  ) n, lateral (
    (select f.* from facet_values f
     where f.phrase = n.stem and f.table_name = any(p_tables) and f.scope = p_owners[array_position(p_tables, f.table_name)]
     limit 10)
    union all
    (select f.* from facet_values f
     where f.stems @> array[n.stem] and cardinality(f.stems) > 1 and f.table_name = any(p_tables) and f.scope = p_owners[array_position(p_tables, f.table_name)]
     limit 10)
  ) v
  union all
  select distinct 'held', k.place - 1, k.place, v.table_name, v.facet, v.value, v.row_count, null::text[]
  from frequency k, lateral (
    (select f.* from facet_values f
     where f.phrase = k.stem and f.table_name = any(p_tables) and f.scope = p_owners[array_position(p_tables, f.table_name)]
     limit 10)
    union all
    (select f.* from facet_values f
     where f.stems @> array[k.stem] and cardinality(f.stems) > 1 and f.table_name = any(p_tables) and f.scope = p_owners[array_position(p_tables, f.table_name)]
     limit 10)
  ) v
  where p_may_hide and k.place - 1 = any(p_doubtful) and k.in_tables > 0
$$;
