-- Written by tools/generate.py from the facets of key_statements.
-- The values by which key_statements are looked up, and how many rows have each.
create or replace function key_statements_values() returns table (facet text, scope text, value text, row_count int)
language sql stable
as $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, '', v.value from key_statements t, lateral (select distinct a.* from (
        select 'speaker', t.speaker_name
        union all select 'speaker_role', title_runs(t.speaker_role)
        union all select 'stance', t.stance
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, '', v.value from key_statements t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;
select keep_values_counted('key_statements', 'key_statements', '{insert,update,delete,truncate}', 'id, meeting_id, speaker_name, speaker_role, stance');
select keep_values_counted('key_statements', 'meetings', '{update}', 'body, id', 'r.id = t.meeting_id');
