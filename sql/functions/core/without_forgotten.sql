-- The turns of a conversation but those that hold the id of something forgotten within a day.
create or replace function without_forgotten(p_turns jsonb) returns jsonb
language sql stable strict
as $$
  select coalesce(jsonb_agg(t.turn order by t.place), '[]')
  from jsonb_array_elements(p_turns) with ordinality t (turn, place)
  where not exists (
    select from jsonb_path_query(t.turn, 'strict $.** ? (@.type() == "string")') s (value)
    join forgotten f on f.id_hash = id_hash(s.value #>> '{}') and f.forgotten_at > now() - interval '1 day')
$$;
