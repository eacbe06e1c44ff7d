-- The vocabulary of the data: the values of every facet of every searched table, looked up for the words of a question. Writes add new
-- values at once; refresh_facet_values counts them anew and removes what no row has.

-- A text without case and accents, the apostrophe as keyboards have it.
create function folded_text(text text) returns text
language sql immutable parallel safe
return replace(regexp_replace(normalize(lower(text), nfkd), '[\u0300-\u036f]+', '', 'g'), '’', '''');

-- The words of a text, folded. Possessive endings, and dots and apostrophes within a word, are left out; "&" is "and"; "c++" and "c#"
-- keep their signs.
create function folded_words(text text) returns text[]
language sql immutable parallel safe
return string_to_array(nullif(btrim(regexp_replace(regexp_replace(regexp_replace(replace(folded_text(text), '&', ' and '),
  '''s(?![[:alnum:]])', '', 'g'),
  '(?<=[[:alnum:]])[''.](?=[[:alnum:]])', '', 'g'),
  '[^[:alnum:]+#]+|(?<![[:alnum:]+])[+#]+|(?<!\+)\+(?!\+)', ' ', 'g')), ''), ' ');

-- The stem of a word as text search has it. A stop word is kept: "The Who" is a name.
create function word_stem(word text) returns text
language sql immutable parallel safe
return coalesce((ts_lexize('english_stem', word))[1], word);

create function word_stems(words text[]) returns text[]
language sql immutable parallel safe
return (select array_agg(word_stem(w.word) order by w.place) from unnest(words) with ordinality w (word, place));

-- What a run of words is compared by: stems in their order, written together, so that "e-mail" is "email".
create function phrase_key(words text[]) returns text
language sql immutable parallel safe
return word_stem(coalesce(array_to_string(word_stems(words[:cardinality(words) - 1]), ''), '') || words[cardinality(words)]);

-- The places that a text names, as written: cities, regions and countries stand between commas and the like.
create function place_parts(place text) returns text[]
language sql immutable parallel safe
return array_remove(regexp_split_to_array(btrim(place), '\s*[,;/|()]+\s*|\s+[-–—]\s+'), '');

create function folded_names(names text[]) returns text[]
language sql immutable parallel safe
return (select coalesce(array_agg(folded_text(btrim(n.name))), '{}') from unnest(names) n (name));

-- What a role or heading is called by: each run of words that ends where it ends, before "of", "at", "in", "for" or a comma, at most
-- five words long; and all of it.
create function title_runs(title text) returns setof text
language sql immutable parallel safe
as $$
  select btrim(title)
  union
  select array_to_string(h.words[n.first:], ' ')
  from regexp_split_to_table(title, '\s*[,;/|()&–—]+\s*|\s+-\s+|\s+and\s+', 'i') part (text),
    lateral (select string_to_array(regexp_replace(btrim(part.text), '\s+(of|at|in|for|to|on)\s.*$', '', 'i'), ' ') as words) h,
    lateral generate_series(greatest(1, cardinality(h.words) - 4), cardinality(h.words)) n (first)
$$;

-- Whether a text holds any of the phrases, word for word but for inflection.
create function has_any_phrase(text text, phrases text[]) returns boolean
language sql immutable parallel safe
return (
  select bool_or(strpos(' ' || array_to_string(t.stems, ' ') || ' ', ' ' || array_to_string(p.stems, ' ') || ' ') > 0)
  from (select word_stems(folded_words(text)) as stems) t,
    unnest(phrases) n (phrase), lateral (select word_stems(folded_words(n.phrase)) as stems) p
);

-- A day written as year, month and day; null for any other text. One that its month does not have is counted on from its first.
create function day_of_text(text text) returns date
language sql immutable parallel safe
return case when text ~ '^[1-9]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(\D|$)'
  then make_date(left(text, 4)::int, substr(text, 6, 2)::int, 1) + substr(text, 9, 2)::int - 1 end;

-- `scope` is the owner of what is shown to nobody else, '' of what is everybody's; `row_count` how many rows had the value when it was
-- last counted. No key is unique: a writer would have to wait for another that adds the same value; the refresh removes what is there
-- twice. Values longer than anyone says are left out.
create table facet_values (
  table_name text not null,
  facet text not null,
  scope text not null,
  value text not null,
  row_count int not null default 1,
  phrase text not null generated always as (phrase_key(folded_words(value))) stored,
  stems text[] not null generated always as (word_stems(folded_words(value))) stored
);
create index facet_values_phrase on facet_values (phrase, table_name);
create index facet_values_value on facet_values (table_name, facet, value);
create index facet_values_stems on facet_values using gin (stems) where cardinality(stems) > 1;

-- The stems of these values, and of how many they are a part: rare ones find a value by a part of it, near ones a slip of the pen.
create table facet_words (
  table_name text not null,
  stem text not null,
  value_count int not null default 1
);
create index facet_words_stem on facet_words (stem, table_name);
create index facet_words_trigrams on facet_words using gin (stem gin_trgm_ops);

-- The second wall of workspaces (0006) stands here too.
alter table facet_values enable row level security;
create policy facet_values_of_the_actor on facet_values for select using (scope in ('', current_setting('quarry.actor', true)));
grant select on facet_values to quarry_ontology_reader;
grant select on facet_words to quarry_ontology_reader;

-- Adds the values that are new among the rows just written. The arguments are the searched table and the column that holds the key of
-- its rows; what their values are is told by the function <table>_values. What is there already is looked up one by one: a join would
-- be planned by the statistics of a table that was smaller then.
create function add_facet_values() returns trigger
language plpgsql
as $$
begin
  if to_regproc(tg_argv[0] || '_values') is null then  -- the functions are made after all migrations
    return null;
  end if;
  execute format(
    'with added as (
       insert into facet_values (table_name, facet, scope, value)
       select distinct %1$L, v.facet, v.scope, v.value
       from %2$I((select array_agg(distinct n.%3$I) from new_rows n)) v
       where (
         select true from facet_values f
         where f.table_name = %1$L and f.facet = v.facet and f.value = v.value and f.scope = v.scope limit 1) is null
       returning stems
     )
     insert into facet_words (table_name, stem)
     select distinct %1$L, w.stem from added a, unnest(a.stems) w (stem)
     where (select true from facet_words k where k.stem = w.stem and k.table_name = %1$L limit 1) is null',
    tg_argv[0], tg_argv[0] || '_values', tg_argv[1]);
  return null;
end
$$;

do $$
declare
  searched record;
begin
  for searched in
    select * from (values
      ('companies', 'companies', 'id'), ('people', 'people', 'id'), ('experience_cards', 'people', 'person_id'),
      ('motions', 'motions', 'id'), ('agenda_items', 'agenda_items', 'id'), ('matters', 'matters', 'id'),
      ('document_sections', 'document_sections', 'id'), ('key_statements', 'key_statements', 'id'),
      ('transcript_segments', 'transcript_segments', 'id'), ('campaigns', 'campaigns', 'id'),
      ('onto_tasks', 'onto_tasks', 'id'), ('onto_plans', 'onto_plans', 'id'), ('onto_goals', 'onto_goals', 'id'),
      ('onto_milestones', 'onto_milestones', 'id'), ('onto_documents', 'onto_documents', 'id'),
      ('onto_outputs', 'onto_outputs', 'id'), ('onto_requirements', 'onto_requirements', 'id')
    ) s (written, table_name, key)
  loop
    execute format('create trigger %1$I after insert on %2$I referencing new table as new_rows
      for each statement execute function add_facet_values(%3$L, %4$L)',
      searched.written || '_added_values', searched.written, searched.table_name, searched.key);
    execute format('create trigger %1$I after update on %2$I referencing new table as new_rows
      for each statement execute function add_facet_values(%3$L, %4$L)',
      searched.written || '_changed_values', searched.written, searched.table_name, searched.key);
  end loop;
end $$;
