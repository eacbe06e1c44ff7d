-- What tells whether records are still what they were: a hash of each that there is, of what a reader sees of it.
create or replace function record_hashes(p_types text[], p_ids text[])
returns table (type text, id text, hash text)
language sql stable
as $$
  select t.type, t.id, md5(jsonb_build_array(t.title, t.body, t.date, t.url)::text)
  from unnest(p_types, p_ids) k (type, id)
  cross join lateral (select * from record_texts r where r.type = k.type and r.id = k.id) t
  union all
  select c.name, r.id, r.row_hash
  from unnest(p_types, p_ids) k (type, id)
  join collections c on c.name = k.type
  join collection_rows r on r.collection = c.id and r.id = k.id
$$;
