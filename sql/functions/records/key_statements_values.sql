-- Written by tools/generate.py from the facets of key_statements.
-- The values by which key_statements are looked up, each once a row; of the rows `p_keys`, or of all where that is null.
create or replace function key_statements_values(p_keys text[]) returns table (key text, scope text, facet text, value text)
language sql stable
as $$
  select t.id, '', v.facet, v.value
  from key_statements t cross join lateral (
    select distinct a.* from (
      select 'speaker', t.speaker_name
      union all
      select 'speaker_role', title_runs(t.speaker_role)
      union all
      select 'stance', t.stance
      union all
      select o.* from meetings r cross join lateral (
        select 'body', r.body
      ) o where r.id = t.meeting_id
    ) a (facet, value)
  ) v (facet, value)
  where (p_keys is null or t.id = any(p_keys)) and (true)
    and length(v.value) <= 200 and folded_words(v.value) is not null
$$;
