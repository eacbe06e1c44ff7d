-- The rows of the seven tables in one view. Read with the reader's own rights, so the policies of the tables apply.
create or replace view onto_entities (type, id, project_id, created_by, title, props, created_at, updated_at) with (security_invoker = true) as
select 'task', id, project_id, created_by, title, props, created_at, updated_at from onto_tasks
union all select 'plan', id, project_id, created_by, name, props, created_at, updated_at from onto_plans
union all select 'goal', id, project_id, created_by, name, props, created_at, updated_at from onto_goals
union all select 'milestone', id, project_id, created_by, title, props, created_at, updated_at from onto_milestones
union all select 'document', id, project_id, created_by, title, props, created_at, updated_at from onto_documents
union all select 'output', id, project_id, created_by, name, props, created_at, updated_at from onto_outputs
union all select 'requirement', id, project_id, created_by, text, props, created_at, updated_at from onto_requirements;

grant select on onto_entities to quarry_ontology_reader;
