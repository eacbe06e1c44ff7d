-- Written by tools/generate.py from the facets of motions.
-- The values by which motions are looked up, and how many rows have each.
create or replace function motions_values() returns table (facet text, scope text, value text, row_count int)
language sql stable
as $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, '', v.value from motions t, lateral (select distinct a.* from (
        select 'result', t.outcome
        union all select 'tally', unnest(t.tally)
        union all select 'mover', t.mover
        union all select 'seconder', t.seconder
        union all select 'votes_for', unnest(t.votes_for)
        union all select 'votes_against', unnest(t.votes_against)
        union all select 'abstained', unnest(t.abstained)
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, '', v.value from motions t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, '', v.value from motions t join matters r on r.id = t.matter_id, lateral (select distinct a.* from (
        select 'matter', title_runs(r.title)
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;
select keep_values_counted('motions', 'motions', '{insert,update,delete,truncate}', 'abstained, id, matter_id, meeting_id, mover, outcome, seconder, tally, votes_against, votes_for');
select keep_values_counted('motions', 'meetings', '{update}', 'body, id', 'r.id = t.meeting_id');
select keep_values_counted('motions', 'matters', '{update}', 'id, title', 'r.id = t.matter_id');
