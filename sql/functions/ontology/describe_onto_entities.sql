-- The titles, snippets and projects of the entities named by (type, id), in that order; of the actor's own, whatever is named.
--
-- This is what leaves a workspace, so it is read as quarry_ontology_reader: the policies show that role nothing but the actor's
-- rows, also where the caller's own statement should fail to. In a snippet the matched words stand between U+E000 and U+E001,
-- which the caller turns into markup after escaping the rest; where only the title matches, the snippet begins with it.
create or replace function describe_onto_entities(p_actor_id text, p_types text[], p_ids text[], p_query text) returns table (
  type text, id text, project_id text, project_name text, title text, snippet text
)
language plpgsql
set role = 'quarry_ontology_reader'
as $$
#variable_conflict use_column
declare
  words constant text[] := tsvector_to_array(to_tsvector('english', p_query));
  any_word constant tsquery := coalesce((select string_agg(quote_literal(w.word), ' | ') from unnest(words) w (word)), '')::tsquery;
  options constant text := U&'StartSel=\E000, StopSel=\E001, MaxFragments=2, MinWords=5, MaxWords=18, FragmentDelimiter=" … "';
begin
  perform set_config('quarry.actor', p_actor_id, true);
  return query
    select e.type, e.id, e.project_id, p.name, e.title,
      case when strpos(h.headline, U&'\E000') > 0 then h.headline
        else ts_headline('english', joined_text(translate(e.title, U&'\E000\E001', ''), nullif(t.passage, '')), any_word, options) end
    from unnest(p_types, p_ids) with ordinality k (type, id, place)
    join onto_search_entries e on e.type = k.type and e.id = k.id
    left join onto_projects p on p.id = e.project_id,
      lateral (select translate(best_passage(e.readable_text, words), U&'\E000\E001', '') as passage offset 0) t,
      lateral (select ts_headline('english', t.passage, any_word, options) as headline offset 0) h
    order by k.place;
end
$$;
