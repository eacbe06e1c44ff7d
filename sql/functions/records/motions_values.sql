-- Written by tools/generate.py from the facets of motions.
-- The values by which motions are looked up, each once a row; of the rows `p_keys`, or of all where that is null.
create or replace function motions_values(p_keys text[]) returns table (key text, scope text, facet text, value text)
language sql stable
as $$
  select t.id, '', v.facet, v.value
  from motions t cross join lateral (
    select distinct a.* from (
      select 'result', substring(t.result from '(?i)^(?:(?:the|this|motion|item|resolution|amendment|bill|vote|was|is|were) +)*([[:alpha:]]+)')
      union all
      select 'tally', unnest(array_remove(array[substring(t.result from '\d+ ?(?:to|[-–:]) ?\d+'), regexp_replace(substring(t.result from '\d+ ?(?:to|[-–:]) ?\d+'), ' ?(?:to|[-–:]) ?', ' to ')], null))
      union all
      select 'mover', t.mover
      union all
      select 'seconder', t.seconder
      union all
      select 'votes_for', unnest(t.votes_for)
      union all
      select 'votes_against', unnest(t.votes_against)
      union all
      select 'abstained', unnest(t.abstained)
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
