-- Written by tools/generate.py from the facets of meetings.
-- Counts what a statement changes in the values by which meetings are looked up.
create or replace function meetings_written() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'TRUNCATE' then
    perform refresh_facet_values('meetings');
  elsif tg_table_name = 'meetings' and tg_op = 'INSERT' then
    perform change_facet_values(
      'meetings', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with meetings as (select 1 as change, n.* from new_rows n) select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, '', v.value from meetings t, lateral (select distinct a.* from (
        select 'body', t.body
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change);
  elsif tg_table_name = 'meetings' and tg_op = 'UPDATE' then
    perform change_facet_values(
      'meetings', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with meetings as (select 1 as change, n.* from (select body, id from new_rows except all select body, id from old_rows) n
      union all select -1, o.* from (select body, id from old_rows except all select body, id from new_rows) o)
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, '', v.value from meetings t, lateral (select distinct a.* from (
        select 'body', t.body
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change);
  elsif tg_table_name = 'meetings' and tg_op = 'DELETE' then
    perform change_facet_values(
      'meetings', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with meetings as (select -1 as change, o.* from old_rows o) select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, '', v.value from meetings t, lateral (select distinct a.* from (
        select 'body', t.body
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change);
  end if;
  return old;
end
$$;
select keep_values_counted('meetings', 'meetings', 'insert', 'statement');
select keep_values_counted('meetings', 'meetings', 'update', 'statement');
select keep_values_counted('meetings', 'meetings', 'delete', 'statement');
select keep_values_counted('meetings', 'meetings', 'truncate', 'statement');
