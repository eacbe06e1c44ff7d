-- Written by tools/generate.py from the facets of document_sections.
-- The values by which document_sections are looked up, and how many rows have each.
create or replace function document_sections_values() returns table (facet text, scope text, value text, row_count int)
language sql stable
as $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, '', v.value from document_sections t, lateral (select distinct a.* from (
        select 'document', title_runs(t.document_title)
        union all select 'document_type', t.document_type
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, '', v.value from document_sections t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, '', v.value from document_sections t join matters r on r.id = t.matter_id, lateral (select distinct a.* from (
        select 'matter', title_runs(r.title)
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;
select keep_values_counted('document_sections', 'document_sections', '{insert,update,delete,truncate}', 'document_title, document_type, id, matter_id, meeting_id');
select keep_values_counted('document_sections', 'meetings', '{update}', 'body, id', 'r.id = t.meeting_id');
select keep_values_counted('document_sections', 'matters', '{update}', 'id, title', 'r.id = t.matter_id');
