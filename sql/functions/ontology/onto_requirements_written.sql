-- Written by tools/generate.py from the facets of onto_requirements.
-- Counts what a statement changes in the values by which onto_requirements are looked up.
create or replace function onto_requirements_written() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'TRUNCATE' then
    perform refresh_facet_values('onto_requirements');
  elsif tg_table_name = 'onto_requirements' and tg_op = 'INSERT' then
    execute $planned_anew$ select change_facet_values(
      'onto_requirements', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with onto_requirements as (select 1 as change, n.* from new_rows n) select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, t.created_by, v.value from onto_requirements t, lateral (select distinct a.* from (
        select 'status', t.props->>'status'
        union all select 'assignee', t.props->>'assignee'
        union all select 'priority', t.props->>'priority'
        union all select 'kind', t.props->>'kind'
        union all select 'source', t.props->>'source'
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, t.created_by, v.value from onto_requirements t join onto_projects r on r.id = t.project_id and r.created_by = t.created_by, lateral (select distinct a.* from (
        select 'project', r.name
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  elsif tg_table_name = 'onto_requirements' and tg_op = 'UPDATE' then
    execute $planned_anew$ select change_facet_values(
      'onto_requirements', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with onto_requirements as (select 1 as change, n.* from (select created_by, id, project_id, props from new_rows except all select created_by, id, project_id, props from old_rows) n
      union all select -1, o.* from (select created_by, id, project_id, props from old_rows except all select created_by, id, project_id, props from new_rows) o)
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, t.created_by, v.value from onto_requirements t, lateral (select distinct a.* from (
        select 'status', t.props->>'status'
        union all select 'assignee', t.props->>'assignee'
        union all select 'priority', t.props->>'priority'
        union all select 'kind', t.props->>'kind'
        union all select 'source', t.props->>'source'
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, t.created_by, v.value from onto_requirements t join onto_projects r on r.id = t.project_id and r.created_by = t.created_by, lateral (select distinct a.* from (
        select 'project', r.name
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  elsif tg_table_name = 'onto_requirements' and tg_op = 'DELETE' then
    execute $planned_anew$ select change_facet_values(
      'onto_requirements', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with onto_requirements as (select -1 as change, o.* from old_rows o) select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, t.created_by, v.value from onto_requirements t, lateral (select distinct a.* from (
        select 'status', t.props->>'status'
        union all select 'assignee', t.props->>'assignee'
        union all select 'priority', t.props->>'priority'
        union all select 'kind', t.props->>'kind'
        union all select 'source', t.props->>'source'
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, t.created_by, v.value from onto_requirements t join onto_projects r on r.id = t.project_id and r.created_by = t.created_by, lateral (select distinct a.* from (
        select 'project', r.name
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  elsif tg_table_name = 'onto_projects' and tg_op = 'UPDATE' then
    execute $planned_anew$ select change_facet_values(
      'onto_requirements', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with onto_projects as (select 1 as change, n.* from (select created_by, id, name from new_rows except all select created_by, id, name from old_rows) n
      union all select -1, o.* from (select created_by, id, name from old_rows except all select created_by, id, name from new_rows) o)
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select r.change, v.facet, t.created_by, v.value from onto_requirements t join onto_projects r on r.id = t.project_id and r.created_by = t.created_by, lateral (select distinct a.* from (
        select 'project', r.name
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  end if;
  return old;
end
$$;
select keep_values_counted('onto_requirements', 'onto_requirements', 'insert', 'statement');
select keep_values_counted('onto_requirements', 'onto_requirements', 'update', 'statement');
select keep_values_counted('onto_requirements', 'onto_requirements', 'delete', 'statement');
select keep_values_counted('onto_requirements', 'onto_requirements', 'truncate', 'statement');
select keep_values_counted('onto_requirements', 'onto_projects', 'update', 'statement');
