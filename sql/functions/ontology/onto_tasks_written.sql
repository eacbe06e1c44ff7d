-- Written by tools/generate.py from the facets of onto_tasks.
-- Counts what a statement changes in the values by which onto_tasks are looked up.
create or replace function onto_tasks_written() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'TRUNCATE' then
    perform refresh_facet_values('onto_tasks');
  elsif tg_table_name = 'onto_tasks' and tg_op = 'INSERT' then
    execute $planned_anew$ select change_facet_values(
      'onto_tasks', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with onto_tasks as (select 1 as change, n.* from new_rows n) select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, t.created_by, v.value from onto_tasks t, lateral (select distinct a.* from (
        select 'status', t.props->>'status'
        union all select 'assignee', t.props->>'assignee'
        union all select 'priority', t.props->>'priority'
        union all select 'kind', t.props->>'kind'
        union all select 'source', t.props->>'source'
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, t.created_by, v.value from onto_tasks t join onto_projects r on r.id = t.project_id and r.created_by = t.created_by, lateral (select distinct a.* from (
        select 'project', r.name
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  elsif tg_table_name = 'onto_tasks' and tg_op = 'UPDATE' then
    execute $planned_anew$ select change_facet_values(
      'onto_tasks', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with onto_tasks as (select 1 as change, n.* from (select created_by, id, project_id, props from new_rows except all select created_by, id, project_id, props from old_rows) n
      union all select -1, o.* from (select created_by, id, project_id, props from old_rows except all select created_by, id, project_id, props from new_rows) o)
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, t.created_by, v.value from onto_tasks t, lateral (select distinct a.* from (
        select 'status', t.props->>'status'
        union all select 'assignee', t.props->>'assignee'
        union all select 'priority', t.props->>'priority'
        union all select 'kind', t.props->>'kind'
        union all select 'source', t.props->>'source'
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, t.created_by, v.value from onto_tasks t join onto_projects r on r.id = t.project_id and r.created_by = t.created_by, lateral (select distinct a.* from (
        select 'project', r.name
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  elsif tg_table_name = 'onto_tasks' and tg_op = 'DELETE' then
    execute $planned_anew$ select change_facet_values(
      'onto_tasks', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with onto_tasks as (select -1 as change, o.* from old_rows o) select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, t.created_by, v.value from onto_tasks t, lateral (select distinct a.* from (
        select 'status', t.props->>'status'
        union all select 'assignee', t.props->>'assignee'
        union all select 'priority', t.props->>'priority'
        union all select 'kind', t.props->>'kind'
        union all select 'source', t.props->>'source'
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, t.created_by, v.value from onto_tasks t join onto_projects r on r.id = t.project_id and r.created_by = t.created_by, lateral (select distinct a.* from (
        select 'project', r.name
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  elsif tg_table_name = 'onto_projects' and tg_op = 'UPDATE' then
    execute $planned_anew$ select change_facet_values(
      'onto_tasks', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with onto_projects as (select 1 as change, n.* from (select created_by, id, name from new_rows except all select created_by, id, name from old_rows) n
      union all select -1, o.* from (select created_by, id, name from old_rows except all select created_by, id, name from new_rows) o)
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select r.change, v.facet, t.created_by, v.value from onto_tasks t join onto_projects r on r.id = t.project_id and r.created_by = t.created_by, lateral (select distinct a.* from (
        select 'project', r.name
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  end if;
  return old;
end
$$;
select keep_values_counted('onto_tasks', 'onto_tasks', 'insert', 'statement');
select keep_values_counted('onto_tasks', 'onto_tasks', 'update', 'statement');
select keep_values_counted('onto_tasks', 'onto_tasks', 'delete', 'statement');
select keep_values_counted('onto_tasks', 'onto_tasks', 'truncate', 'statement');
select keep_values_counted('onto_tasks', 'onto_projects', 'update', 'statement');
