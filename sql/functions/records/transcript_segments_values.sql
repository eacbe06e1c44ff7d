-- Written by tools/generate.py from the facets of transcript_segments.
-- The values by which transcript_segments are looked up, and how many rows have each.
create or replace function transcript_segments_values() returns table (facet text, scope text, value text, row_count int)
language sql stable
as $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, '', v.value from transcript_segments t, lateral (select distinct a.* from (
        select 'speaker', t.speaker_name
        union all select 'speaker_role', title_runs(t.speaker_role)
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, '', v.value from transcript_segments t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;
select keep_values_counted('transcript_segments', 'transcript_segments', '{insert,update,delete,truncate}', 'id, meeting_id, speaker_name, speaker_role');
select keep_values_counted('transcript_segments', 'meetings', '{update}', 'body, id', 'r.id = t.meeting_id');
