-- The turns of a conversation of a domain, without those that contain the id of a record forgotten within a day.
create or replace function without_forgotten(p_turns jsonb, p_domain text) returns jsonb
language sql stable strict
as $$
  select coalesce(jsonb_agg(t.turn order by t.place), '[]')
  from jsonb_array_elements(p_turns) with ordinality t (turn, place)
  where not holds_forgotten(t.turn, p_domain)
$$;
