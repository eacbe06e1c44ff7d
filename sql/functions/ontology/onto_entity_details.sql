-- One whole entity of an actor, with its project if that is the actor's too. No row for an entity of somebody else.
create or replace function onto_entity_details(p_actor_id text, p_type text, p_id text) returns table (
  type text, id text, project_id text, title text, props jsonb, project jsonb, created_at timestamptz, updated_at timestamptz
)
language plpgsql
set role = 'quarry_ontology_reader'
as $$
#variable_conflict use_column
begin
  perform set_config('quarry.actor', p_actor_id, true);
  return query
    select e.type, e.id, e.project_id, e.title, e.props,
      case when p.id is not null then jsonb_build_object('id', p.id, 'name', p.name, 'description', p.description) end,
      e.created_at, e.updated_at
    from onto_entities e left join onto_projects p on p.id = e.project_id and p.created_by = p_actor_id
    where e.type = p_type and e.id = p_id and e.created_by = p_actor_id;
end
$$;
