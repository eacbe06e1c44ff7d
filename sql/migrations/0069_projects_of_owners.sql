-- The name of a project of another owner's is no value by which things of the workspace are found.
delete from facet_values f
where f.facet = 'project' and f.table_name like 'onto\_%'
  and not exists (select from onto_projects p where p.created_by = f.scope and p.name = f.value);
