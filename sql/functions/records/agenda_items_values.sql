-- Written by tools/generate.py from the facets of agenda_items.
-- The values by which agenda_items are looked up, each once a row; of the rows `p_keys`, or of all where that is null.
create or replace function agenda_items_values(p_keys text[]) returns table (key text, scope text, facet text, value text)
language sql stable
as $$
  select t.id, '', v.facet, v.value
  from agenda_items t cross join lateral (
    select distinct a.* from (
      select 'category', t.category
      union all
      select o.* from meetings r cross join lateral (
        select 'body', r.body
      ) o where r.id = t.meeting_id
      union all
      select o.* from matters r cross join lateral (
        select 'matter', title_runs(r.title)
      ) o where r.id = t.matter_id
    ) a (facet, value)
  ) v (facet, value)
  where (p_keys is null or t.id = any(p_keys)) and (true)
    and length(v.value) <= 200 and folded_words(v.value) is not null
$$;
