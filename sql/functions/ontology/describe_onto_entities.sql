-- The titles, snippets and projects of the entities named by (type, id), if they are the actor's own; `place` is the position in the input.
--
-- This is the data that leaves a workspace, so it is read as quarry_ontology_reader: the policies show that role only the actor's rows,
-- even if the caller's statement fails to. Words (lexemes) are marked in snippets (see marked_words); if only the title contains one, the
-- snippet starts with it. Short values (a status, a date) are left out unless they contain a word.
create or replace function describe_onto_entities(p_actor_id text, p_types text[], p_ids text[], p_words text[]) returns table (
  place bigint, type text, id text, project_id text, project_name text, title text, snippet text
)
language plpgsql
set role = 'quarry_ontology_reader'
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  any_word constant tsquery := coalesce((select string_agg(quote_literal(w.word), ' | ') from unnest(p_words[:16]) w (word)), '')::tsquery;
  -- the longest words are the most specific; a stem may end in other letters than the word: batteri, battery
  beginnings constant text[] := array(
    select '\m' || regexp_replace(case when length(w.word) > 4 then rtrim(w.word, 'ie') else w.word end, '(\W)', '\\\1', 'g')
    from unnest(p_words) w (word) order by length(w.word) desc, w.word limit 8);
  any_beginning constant text := array_to_string(beginnings, '|');
  options constant text := 'HighlightAll=true';
  max_short constant int := 2000;  -- characters; a longer text is a document
begin
  perform set_config('quarry.actor', p_actor_id, true);
  return query
    select k.place, e.type, e.id, e.project_id, p.name, e.title,
      case when strpos(h.headline, U&'\E000') > 0 or numnode(any_word) = 0 and t.passage <> '' then h.headline
        else marked_words('english', joined_text(e.title, nullif(t.passage, '')), any_word, options) end
    from unnest(p_types, p_ids) with ordinality k (type, id, place)
    join onto_search_entries e on e.type = k.type and e.id = k.id
    left join onto_projects p on p.id = e.project_id,
      lateral (
        select coalesce(string_agg(l.line, E'\n' order by l.place), '') as prose
        from string_to_table(e.readable_text, case when length(e.readable_text) < max_short then E'\n' else '' end) with ordinality l (line, place)
        where l.line ~ '[.!?:]$|\w\W+\w+\W+\w+\W+\w' or any_beginning <> '' and l.line ~* any_beginning
      ) s,
      lateral (select best_passage(s.prose, beginnings) as passage offset 0) t,
      lateral (select marked_words('english', t.passage, any_word, options) as headline offset 0) h;
end
$$;
