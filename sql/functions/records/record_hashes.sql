-- Written by tools/generate.py from the built-in collections.
-- Hashes of all fields of each existing record, to detect changed records.
create or replace function record_hashes(p_types text[], p_ids text[])
returns table (type text, id text, hash text)
language sql stable
as $$
  select k.type, x.id, md5((to_jsonb(x) - array['outcome', 'tally']::text[] - array['text_search', 'content_hash', 'embedded_hash', 'refused_hash', 'refusals'])::text)
  from unnest(p_types, p_ids) k (type, id) join motions x on x.id = k.id where k.type = 'motion'
  union all
  select k.type, x.id, md5((to_jsonb(x) - array[]::text[] - array['text_search', 'content_hash', 'embedded_hash', 'refused_hash', 'refusals'])::text)
  from unnest(p_types, p_ids) k (type, id) join agenda_items x on x.id = k.id where k.type = 'agenda_item'
  union all
  select k.type, x.id, md5((to_jsonb(x) - array[]::text[] - array['text_search', 'content_hash', 'embedded_hash', 'refused_hash', 'refusals'])::text)
  from unnest(p_types, p_ids) k (type, id) join matters x on x.id = k.id where k.type = 'matter'
  union all
  select k.type, x.id, md5((to_jsonb(x) - array[]::text[] - array['text_search', 'content_hash', 'embedded_hash', 'refused_hash', 'refusals'])::text)
  from unnest(p_types, p_ids) k (type, id) join document_sections x on x.id = k.id where k.type = 'document_section'
  union all
  select k.type, x.id, md5((to_jsonb(x) - array[]::text[] - array['text_search', 'content_hash', 'embedded_hash', 'refused_hash', 'refusals'])::text)
  from unnest(p_types, p_ids) k (type, id) join key_statements x on x.id = k.id where k.type = 'key_statement'
  union all
  select k.type, x.id, md5((to_jsonb(x) - array[]::text[] - array['text_search', 'content_hash', 'embedded_hash', 'refused_hash', 'refusals'])::text)
  from unnest(p_types, p_ids) k (type, id) join transcript_segments x on x.id = k.id where k.type = 'transcript_segment'
  union all
  select c.name, r.id, r.row_hash
  from unnest(p_types, p_ids) k (type, id)
  join collections c on c.name = k.type
  join collection_rows r on r.collection = c.id and r.id = k.id
$$;
