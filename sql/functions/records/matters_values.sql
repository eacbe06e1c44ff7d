-- Written by tools/generate.py from the facets of matters.
-- The values by which matters are looked up, each once a row; of the rows `p_keys`, or of all where that is null.
create or replace function matters_values(p_keys text[]) returns table (key text, scope text, facet text, value text)
language sql stable
as $$
  select t.id, '', v.facet, v.value
  from matters t cross join lateral (
    select distinct a.* from (
      select 'title', title_runs(t.title)
      union all
      select 'type', t.matter_type
      union all
      select 'status', t.status
      union all
      select 'sponsor', unnest(t.sponsors)
      union all
      select o.* from meetings r cross join lateral (
        select 'body', r.body
      ) o where r.id = t.meeting_id
    ) a (facet, value)
  ) v (facet, value)
  where (p_keys is null or t.id = any(p_keys)) and (true)
    and length(v.value) <= 200 and folded_words(v.value) is not null
$$;
