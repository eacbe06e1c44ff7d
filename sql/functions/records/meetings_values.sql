-- Written by tools/generate.py from the facets of meetings.
-- The values by which meetings are looked up, and how many rows have each.
create or replace function meetings_values() returns table (facet text, scope text, value text, row_count int)
language sql stable
as $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, '', v.value from meetings t, lateral (select distinct a.* from (
        select 'body', t.body
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;
select keep_values_counted('meetings', 'meetings', '{insert,update,delete,truncate}', 'body, id');
