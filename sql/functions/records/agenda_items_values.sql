-- Written by tools/generate.py from the facets of agenda_items.
-- The values by which agenda_items are looked up, and how many rows have each.
create or replace function agenda_items_values() returns table (facet text, scope text, value text, row_count int)
language sql stable
as $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, '', v.value from agenda_items t, lateral (select distinct a.* from (
        select 'category', t.category
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, '', v.value from agenda_items t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, '', v.value from agenda_items t join matters r on r.id = t.matter_id, lateral (select distinct a.* from (
        select 'matter', title_runs(r.title)
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;
select keep_values_counted('agenda_items', 'agenda_items', '{insert,update,delete,truncate}', 'category, id, matter_id, meeting_id');
select keep_values_counted('agenda_items', 'meetings', '{update}', 'body, id', 'r.id = t.meeting_id');
select keep_values_counted('agenda_items', 'matters', '{update}', 'id, title', 'r.id = t.matter_id');
