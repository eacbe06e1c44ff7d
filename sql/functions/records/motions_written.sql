-- Written by tools/generate.py from the facets of motions.
-- Counts what a statement changes in the values by which motions are looked up.
create or replace function motions_written() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'TRUNCATE' then
    perform refresh_facet_values('motions');
  elsif tg_table_name = 'motions' and tg_op = 'INSERT' then
    execute $planned_anew$ select change_facet_values(
      'motions', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with motions as (select 1 as change, n.* from new_rows n) select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, '', v.value from motions t, lateral (select distinct a.* from (
        select 'result', t.outcome
        union all select 'tally', unnest(t.tally)
        union all select 'mover', t.mover
        union all select 'seconder', t.seconder
        union all select 'votes_for', unnest(t.votes_for)
        union all select 'votes_against', unnest(t.votes_against)
        union all select 'abstained', unnest(t.abstained)
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, '', v.value from motions t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, '', v.value from motions t join matters r on r.id = t.matter_id, lateral (select distinct a.* from (
        select 'matter', title_runs(r.title)
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  elsif tg_table_name = 'motions' and tg_op = 'UPDATE' then
    execute $planned_anew$ select change_facet_values(
      'motions', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with motions as (select 1 as change, n.* from (select abstained, id, matter_id, meeting_id, mover, outcome, seconder, tally, votes_against, votes_for from new_rows except all select abstained, id, matter_id, meeting_id, mover, outcome, seconder, tally, votes_against, votes_for from old_rows) n
      union all select -1, o.* from (select abstained, id, matter_id, meeting_id, mover, outcome, seconder, tally, votes_against, votes_for from old_rows except all select abstained, id, matter_id, meeting_id, mover, outcome, seconder, tally, votes_against, votes_for from new_rows) o)
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, '', v.value from motions t, lateral (select distinct a.* from (
        select 'result', t.outcome
        union all select 'tally', unnest(t.tally)
        union all select 'mover', t.mover
        union all select 'seconder', t.seconder
        union all select 'votes_for', unnest(t.votes_for)
        union all select 'votes_against', unnest(t.votes_against)
        union all select 'abstained', unnest(t.abstained)
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, '', v.value from motions t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, '', v.value from motions t join matters r on r.id = t.matter_id, lateral (select distinct a.* from (
        select 'matter', title_runs(r.title)
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  elsif tg_table_name = 'motions' and tg_op = 'DELETE' then
    execute $planned_anew$ select change_facet_values(
      'motions', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with motions as (select -1 as change, o.* from old_rows o) select w.facet, w.scope, w.value, sum(w.change)::int from (
      select t.change, v.facet, '', v.value from motions t, lateral (select distinct a.* from (
        select 'result', t.outcome
        union all select 'tally', unnest(t.tally)
        union all select 'mover', t.mover
        union all select 'seconder', t.seconder
        union all select 'votes_for', unnest(t.votes_for)
        union all select 'votes_against', unnest(t.votes_against)
        union all select 'abstained', unnest(t.abstained)
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, '', v.value from motions t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
      union all
      select t.change, v.facet, '', v.value from motions t join matters r on r.id = t.matter_id, lateral (select distinct a.* from (
        select 'matter', title_runs(r.title)
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  elsif tg_table_name = 'meetings' and tg_op = 'UPDATE' then
    execute $planned_anew$ select change_facet_values(
      'motions', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with meetings as (select 1 as change, n.* from (select body, id from new_rows except all select body, id from old_rows) n
      union all select -1, o.* from (select body, id from old_rows except all select body, id from new_rows) o)
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select r.change, v.facet, '', v.value from motions t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  elsif tg_table_name = 'matters' and tg_op = 'UPDATE' then
    execute $planned_anew$ select change_facet_values(
      'motions', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
    with matters as (select 1 as change, n.* from (select id, title from new_rows except all select id, title from old_rows) n
      union all select -1, o.* from (select id, title from old_rows except all select id, title from new_rows) o)
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select r.change, v.facet, '', v.value from motions t join matters r on r.id = t.matter_id, lateral (select distinct a.* from (
        select 'matter', title_runs(r.title)
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
    ) c (facet, scope, value, change) $planned_anew$;
  end if;
  return old;
end
$$;
select keep_values_counted('motions', 'motions', 'insert', 'statement');
select keep_values_counted('motions', 'motions', 'update', 'statement');
select keep_values_counted('motions', 'motions', 'delete', 'statement');
select keep_values_counted('motions', 'motions', 'truncate', 'statement');
select keep_values_counted('motions', 'meetings', 'update', 'statement');
select keep_values_counted('motions', 'matters', 'update', 'statement');
