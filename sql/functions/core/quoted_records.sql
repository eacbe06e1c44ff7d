-- The records that a turn of a conversation or an event of a stream quotes, each by its id, and by its kind if stated: in `type` (or
-- `tool`) next to the `id`, or in parts of such a record by the name of a field (`meeting_id`, `campaignIds`). Otherwise the kind is null,
-- and any text may be an id, even the name of a field. Not included are other texts of an identified record, such as its title, and values
-- of facets in filters or counts. Steps and pieces of a text quote nothing by themselves.
create or replace function quoted_records(p_json jsonb) returns table (kind text, id text)
language sql immutable parallel safe
as $$
  -- `owner` is the kind of the record that a part belongs to, and '' for values of facets
  with recursive parts (key, value, owner) as (
    select null::text, p_json, null::text
    where coalesce(p_json ->> 'type', '') not in ('activity', 'partial_text', 'final_answer_chunk')
    union all
    select inside.*
    from parts p cross join lateral (
      select o.key, o.value, case
        when o.key in (
          'aggregation', 'arguments', 'constraints', 'detectedFilters', 'facets', 'fields', 'filters', 'groups', 'parameters')
          then ''
        else coalesce(
          case when jsonb_typeof(p.value -> 'id') = 'string' then coalesce(p.value ->> 'type', p.value ->> 'tool') end,
          case when p.owner = '' then '' end)
        end
      from jsonb_each(case when jsonb_typeof(p.value) = 'object' then p.value else '{}' end) o
      union all
      select p.key, a.value, p.owner
      from jsonb_array_elements(case when jsonb_typeof(p.value) = 'array' then p.value else '[]' end) a
    ) inside (key, value, owner)
  )
  select
    case when p.key = 'id' then nullif(p.owner, '') when p.owner is not null then regexp_replace(p.key, '(_id|Id)s?$', '') end,
    p.value #>> '{}'
  from parts p
  where jsonb_typeof(p.value) = 'string' and (p.owner is null or p.key = 'id' or p.key ~ '(_id|Id)s?$')
  union all
  select null, p.key from parts p where p.owner is null and p.key is not null
$$;
