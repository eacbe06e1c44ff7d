-- Chinese, Japanese, Thai, Lao, Khmer and Burmese are written without spaces, and Korean joins particles to words: a text search vector has
-- the overlapping pairs of their letters in place of words. A query has the pairs of its own letters.

-- Whether a text has letters of such a script, or letters and digits of full width.
create function has_paired_letters(p_text text) returns boolean
language sql immutable parallel safe
return octet_length(p_text) <> length(p_text) and p_text ~ '[\u0E01-\u0E3A\u0E40-\u0E4E\u0E81-\u0EBD\u0EC0-\u0ECD\u1000-\u103F\u1050-\u109F\u1100-\u11FF\u1780-\u17D3\u2E80-\u2FDF\u3005-\u3007\u3021-\u3029\u3041-\u3096\u3099-\u309A\u309D-\u309F\u30A1-\u30FA\u30FC-\u318F\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uA960-\uA97F\uAC00-\uD7FF\uF900-\uFAFF\uFF66-\uFF9F\U00020000-\U0003FFFF\uFF10-\uFF19\uFF21-\uFF3A\uFF41-\uFF5A]';

-- The letters of such scripts in a text, run by run, composed and in full width.
create function letter_runs(p_text text) returns setof text
language sql immutable parallel safe
begin atomic
  select case when m.part[1] ~ '[\u1100-\u11FF\u3099\u309A\u3130-\u318F\uFF66-\uFF9F]' then normalize(m.part[1], nfkc) else m.part[1] end
  from regexp_matches(p_text, '[\u0E01-\u0E3A\u0E40-\u0E4E\u0E81-\u0EBD\u0EC0-\u0ECD\u1000-\u103F\u1050-\u109F\u1100-\u11FF\u1780-\u17D3\u2E80-\u2FDF\u3005-\u3007\u3021-\u3029\u3041-\u3096\u3099-\u309A\u309D-\u309F\u30A1-\u30FA\u30FC-\u318F\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uA960-\uA97F\uAC00-\uD7FF\uF900-\uFAFF\uFF66-\uFF9F\U00020000-\U0003FFFF]+', 'g') m (part);
end;

-- The letters of a run, in order, each with the vowels and tones that are written above or below it.
create function letters_of_run(p_run text) returns setof text
language sql immutable parallel safe
begin atomic
  select m.letter[1] from regexp_matches(p_run, '.[\u0E31\u0E34-\u0E3A\u0E47-\u0E4E\u0EB1\u0EB4-\u0EBC\u0EC8-\u0ECD\u102B-\u103E\u1056-\u1059\u17B4-\u17D3]*', 'g') m (letter);
end;

-- The overlapping pairs of a run's letters, in order, between spaces; a single letter as it is.
create function pairs_of_run(p_run text) returns text
language sql immutable parallel safe
return (
  select string_agg(u.letter || coalesce(u.next, ''), ' ' order by u.place)
  from (
    select l.letter, l.place, lead(l.letter) over (order by l.place) as next
    from letters_of_run(p_run) with ordinality l (letter, place)
  ) u
  where u.next is not null or u.place = 1
);

create function pairs_of_text(p_text text) returns text
language sql immutable parallel safe
return (
  select string_agg(
    case
      when m.part[1] is not null then ' ' || pairs_of_run((select string_agg(r.run, '') from letter_runs(m.part[1]) r (run))) || ' '
      else coalesce(normalize(m.part[2], nfkc), m.part[3])
    end, '' order by m.place)
  from regexp_matches(p_text, '([\u0E01-\u0E3A\u0E40-\u0E4E\u0E81-\u0EBD\u0EC0-\u0ECD\u1000-\u103F\u1050-\u109F\u1100-\u11FF\u1780-\u17D3\u2E80-\u2FDF\u3005-\u3007\u3021-\u3029\u3041-\u3096\u3099-\u309A\u309D-\u309F\u30A1-\u30FA\u30FC-\u318F\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uA960-\uA97F\uAC00-\uD7FF\uF900-\uFAFF\uFF66-\uFF9F\U00020000-\U0003FFFF]+)|([\uFF10-\uFF19\uFF21-\uFF3A\uFF41-\uFF5A]+)|([^\u0E01-\u0E3A\u0E40-\u0E4E\u0E81-\u0EBD\u0EC0-\u0ECD\u1000-\u103F\u1050-\u109F\u1100-\u11FF\u1780-\u17D3\u2E80-\u2FDF\u3005-\u3007\u3021-\u3029\u3041-\u3096\u3099-\u309A\u309D-\u309F\u30A1-\u30FA\u30FC-\u318F\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uA960-\uA97F\uAC00-\uD7FF\uF900-\uFAFF\uFF66-\uFF9F\U00020000-\U0003FFFF\uFF10-\uFF19\uFF21-\uFF3A\uFF41-\uFF5A]+)', 'g')
    with ordinality m (part, place)
);

-- A text with spaces between the overlapping pairs of letters of such scripts, and with letters and digits of plain width. Other texts are
-- as they are, and Postgres inlines the question.
create function paired_letters(p_text text) returns text
language sql immutable parallel safe
return case when has_paired_letters(p_text) then pairs_of_text(p_text) else p_text end;

-- The single letters of such scripts in a text, without positions, for queries of one letter.
create function single_letters(p_text text) returns tsvector
language sql immutable parallel safe
return array_to_tsvector(array(select distinct l.letter from letter_runs(p_text) r (run), letters_of_run(r.run) l (letter)));

-- The words of a text in our own tables.
create function english_words(p_text text) returns tsvector
language sql immutable parallel safe
return case when has_paired_letters(p_text)
  then to_tsvector('english', paired_letters(p_text)) || single_letters(p_text) else to_tsvector('english', p_text) end;

create function english_words_of_json(p_json jsonb) returns tsvector
language sql immutable parallel safe
return case when has_paired_letters(p_json::text)
  then jsonb_to_tsvector('english', paired_letters(p_json::text)::jsonb, '["string"]') || single_letters(p_json::text)
  else jsonb_to_tsvector('english', p_json, '["string"]') end;

create or replace function searchable_text(variadic parts text[]) returns text
language sql immutable parallel safe
return regexp_replace(
  regexp_replace(paired_letters(joined_text(variadic parts)), '\m(c)\+\+', '\1plusplus', 'gi'), '\m([cfj])#', '\1sharp', 'gi');

-- Stored vectors are made anew, each table at once, with their indexes and the way that they are stored.
do $$
declare
  made record;
  statement text;
begin
  for made in
    select c.oid::regclass as of_table, array_agg(a.attnum) as numbers,
      string_agg(format('drop column %I', a.attname), ', ' order by a.attnum) as dropped,
      string_agg(format('add column %I tsvector not null generated always as (%s) stored', a.attname,
        regexp_replace(regexp_replace(pg_get_expr(d.adbin, d.adrelid),
          $re$\mjsonb_to_tsvector\('english'::regconfig, (\w+), '\["string"\]'::jsonb\)$re$, 'english_words_of_json(\1)', 'g'),
          $re$\mto_tsvector\('english'::regconfig, $re$, 'english_words(', 'g')), ', ' order by a.attnum) as added,
      string_agg(format('alter column %I set storage %s', a.attname,
        case a.attstorage when 'm' then 'main' when 'e' then 'external' when 'p' then 'plain' else 'extended' end), ', ') as stored
    from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where c.relnamespace = current_schema()::regnamespace and a.attgenerated = 's' and a.atttypid = 'tsvector'::regtype
      and pg_get_expr(d.adbin, d.adrelid) ~ $re$'english'::regconfig|\m(searchable_text|role_words)\($re$
    group by c.oid
  loop
    create temporary table indexes_made_anew on commit drop as
    select pg_get_indexdef(i.indexrelid) as statement from pg_index i
    where i.indrelid = made.of_table and i.indkey::int2[] && made.numbers;
    execute format('alter table %s %s, %s', made.of_table, made.dropped, made.added);
    execute format('alter table %s %s', made.of_table, made.stored);
    for statement in select m.statement from indexes_made_anew m loop
      execute statement;
    end loop;
    drop table indexes_made_anew;
    execute format('analyze %s', made.of_table);
  end loop;
end
$$;

update onto_search_entries e set search_vector = t.search_vector
from (
  select 'task' as type, id, search_vector from onto_tasks union all select 'plan', id, search_vector from onto_plans
  union all select 'goal', id, search_vector from onto_goals union all select 'milestone', id, search_vector from onto_milestones
  union all select 'document', id, search_vector from onto_documents union all select 'output', id, search_vector from onto_outputs
  union all select 'requirement', id, search_vector from onto_requirements
) t
where t.type = e.type and t.id = e.id and t.search_vector <> e.search_vector;
