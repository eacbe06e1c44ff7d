-- Written by tools/generate.py from the facets of onto_tasks.
-- The values by which onto_tasks are looked up, each once a row; of the rows `p_keys`, or of all where that is null.
create or replace function onto_tasks_values(p_keys text[]) returns table (key text, scope text, facet text, value text)
language sql stable
as $$
  select t.id, t.created_by, v.facet, v.value
  from onto_tasks t cross join lateral (
    select distinct a.* from (
      select 'status', t.props->>'status'
      union all
      select 'assignee', t.props->>'assignee'
      union all
      select 'priority', t.props->>'priority'
      union all
      select 'kind', t.props->>'kind'
      union all
      select 'source', t.props->>'source'
      union all
      select o.* from onto_projects r cross join lateral (
        select 'project', r.name
      ) o where r.id = t.project_id
    ) a (facet, value)
  ) v (facet, value)
  where (p_keys is null or t.id = any(p_keys)) and (true)
    and length(v.value) <= 200 and folded_words(v.value) is not null
$$;
