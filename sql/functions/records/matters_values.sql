-- Written by tools/generate.py from the facets of matters.
-- The values by which matters are looked up, and how many rows have each.
create or replace function matters_values() returns table (facet text, scope text, value text, row_count int)
language sql stable
as $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, '', v.value from matters t, lateral (select distinct a.* from (
        select 'title', title_runs(t.title)
        union all select 'matter_type', t.matter_type
        union all select 'status', t.status
        union all select 'sponsor', unnest(t.sponsors)
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, '', v.value from matters t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;
select keep_values_counted('matters', 'matters', '{insert,update,delete,truncate}', 'id, matter_type, meeting_id, sponsors, status, title');
select keep_values_counted('matters', 'meetings', '{update}', 'body, id', 'r.id = t.meeting_id');
