-- Written by tools/generate.py from the facets of key_statements.
-- Counts what a statement changes in the values by which key_statements are looked up.
create or replace function key_statements_written() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'TRUNCATE' then
    perform refresh_facet_values('key_statements');
  elsif tg_table_name = 'key_statements' and tg_op = 'INSERT' then
    execute $planned_anew$ select change_facet_values(
      'key_statements', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with key_statements as (select 1 as change, n.* from new_rows n) select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, '', v.value from key_statements t, lateral (select distinct a.* from (
        select 'speaker', t.speaker_name
        union all select 'speaker_role', title_runs(t.speaker_role)
        union all select 'stance', t.stance
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, '', v.value from key_statements t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  elsif tg_table_name = 'key_statements' and tg_op = 'UPDATE' then
    execute $planned_anew$ select change_facet_values(
      'key_statements', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with key_statements as (select 1 as change, n.* from (select id, meeting_id, speaker_name, speaker_role, stance from new_rows except all select id, meeting_id, speaker_name, speaker_role, stance from old_rows) n
      union all select -1, o.* from (select id, meeting_id, speaker_name, speaker_role, stance from old_rows except all select id, meeting_id, speaker_name, speaker_role, stance from new_rows) o)
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, '', v.value from key_statements t, lateral (select distinct a.* from (
        select 'speaker', t.speaker_name
        union all select 'speaker_role', title_runs(t.speaker_role)
        union all select 'stance', t.stance
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, '', v.value from key_statements t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  elsif tg_table_name = 'key_statements' and tg_op = 'DELETE' then
    execute $planned_anew$ select change_facet_values(
      'key_statements', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with key_statements as (select -1 as change, o.* from old_rows o) select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, '', v.value from key_statements t, lateral (select distinct a.* from (
        select 'speaker', t.speaker_name
        union all select 'speaker_role', title_runs(t.speaker_role)
        union all select 'stance', t.stance
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, '', v.value from key_statements t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  elsif tg_table_name = 'meetings' and tg_op = 'UPDATE' then
    execute $planned_anew$ select change_facet_values(
      'key_statements', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with meetings as (select 1 as change, n.* from (select body, id from new_rows except all select body, id from old_rows) n
      union all select -1, o.* from (select body, id from old_rows except all select body, id from new_rows) o)
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select r.change, v.facet, '', v.value from key_statements t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  end if;
  return old;
end
$$;
select keep_values_counted('key_statements', 'key_statements', 'insert', 'statement');
select keep_values_counted('key_statements', 'key_statements', 'update', 'statement');
select keep_values_counted('key_statements', 'key_statements', 'delete', 'statement');
select keep_values_counted('key_statements', 'key_statements', 'truncate', 'statement');
select keep_values_counted('key_statements', 'meetings', 'update', 'statement');
