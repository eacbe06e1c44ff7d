-- Written by tools/generate.py from the facets of agenda_items.
-- Counts what a statement changes in the values by which agenda_items are looked up.
create or replace function agenda_items_written() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'TRUNCATE' then
    perform refresh_facet_values('agenda_items');
  elsif tg_table_name = 'agenda_items' and tg_op = 'INSERT' then
    execute $planned_anew$ select change_facet_values(
      'agenda_items', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with agenda_items as (select 1 as change, n.* from new_rows n) select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, '', v.value from agenda_items t, lateral (select distinct a.* from (
        select 'category', t.category
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, '', v.value from agenda_items t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, '', v.value from agenda_items t join matters r on r.id = t.matter_id, lateral (select distinct a.* from (
        select 'matter', title_runs(r.title)
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  elsif tg_table_name = 'agenda_items' and tg_op = 'UPDATE' then
    execute $planned_anew$ select change_facet_values(
      'agenda_items', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with agenda_items as (select 1 as change, n.* from (select category, id, matter_id, meeting_id from new_rows except all select category, id, matter_id, meeting_id from old_rows) n
      union all select -1, o.* from (select category, id, matter_id, meeting_id from old_rows except all select category, id, matter_id, meeting_id from new_rows) o)
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, '', v.value from agenda_items t, lateral (select distinct a.* from (
        select 'category', t.category
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, '', v.value from agenda_items t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, '', v.value from agenda_items t join matters r on r.id = t.matter_id, lateral (select distinct a.* from (
        select 'matter', title_runs(r.title)
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  elsif tg_table_name = 'agenda_items' and tg_op = 'DELETE' then
    execute $planned_anew$ select change_facet_values(
      'agenda_items', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with agenda_items as (select -1 as change, o.* from old_rows o) select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, '', v.value from agenda_items t, lateral (select distinct a.* from (
        select 'category', t.category
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, '', v.value from agenda_items t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, '', v.value from agenda_items t join matters r on r.id = t.matter_id, lateral (select distinct a.* from (
        select 'matter', title_runs(r.title)
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  elsif tg_table_name = 'meetings' and tg_op = 'UPDATE' then
    execute $planned_anew$ select change_facet_values(
      'agenda_items', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with meetings as (select 1 as change, n.* from (select body, id from new_rows except all select body, id from old_rows) n
      union all select -1, o.* from (select body, id from old_rows except all select body, id from new_rows) o)
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select r.change, v.facet, '', v.value from agenda_items t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  elsif tg_table_name = 'matters' and tg_op = 'UPDATE' then
    execute $planned_anew$ select change_facet_values(
      'agenda_items', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with matters as (select 1 as change, n.* from (select id, title from new_rows except all select id, title from old_rows) n
      union all select -1, o.* from (select id, title from old_rows except all select id, title from new_rows) o)
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select r.change, v.facet, '', v.value from agenda_items t join matters r on r.id = t.matter_id, lateral (select distinct a.* from (
        select 'matter', title_runs(r.title)
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  end if;
  return old;
end
$$;
select keep_values_counted('agenda_items', 'agenda_items', 'insert', 'statement');
select keep_values_counted('agenda_items', 'agenda_items', 'update', 'statement');
select keep_values_counted('agenda_items', 'agenda_items', 'delete', 'statement');
select keep_values_counted('agenda_items', 'agenda_items', 'truncate', 'statement');
select keep_values_counted('agenda_items', 'meetings', 'update', 'statement');
select keep_values_counted('agenda_items', 'matters', 'update', 'statement');
