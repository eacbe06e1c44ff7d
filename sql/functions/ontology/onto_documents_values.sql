-- Written by tools/generate.py from the facets of onto_documents.
-- The values by which onto_documents are looked up, and how many rows have each.
create or replace function onto_documents_values() returns table (facet text, scope text, value text, row_count int)
language sql stable
as $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, t.created_by, v.value from onto_documents t, lateral (select distinct a.* from (
        select 'status', t.props->>'status'
        union all select 'assignee', t.props->>'assignee'
        union all select 'priority', t.props->>'priority'
        union all select 'kind', t.props->>'kind'
        union all select 'source', t.props->>'source'
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, t.created_by, v.value from onto_documents t join onto_projects r on r.id = t.project_id and r.created_by = t.created_by, lateral (select distinct a.* from (
        select 'project', r.name
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;
select keep_values_counted('onto_documents', 'onto_documents', '{insert,update,delete,truncate}', 'created_by, id, project_id, props');
select keep_values_counted('onto_documents', 'onto_projects', '{update}', 'created_by, id, name', 'r.id = t.project_id and r.created_by = t.created_by');
