-- Campaigns near in meaning to a query: the cosine similarity of p_query_embedding to the nearest window of the field p_field
-- (profile, campaign_text, offer, key_value_props), at least p_min_similarity, nearest first; of p_ids alone, or of all where that is
-- null.
--
-- Few ids are compared one by one: that is faster than walking the index past all others, and complete.
create or replace function search_campaigns(
  p_query_embedding halfvec, p_field text default 'profile', p_limit int default 50, p_min_similarity double precision default 0.25,
  p_ids text[] default null
) returns table (id text, score double precision)
language plpgsql stable
set hnsw.ef_search = 200
set hnsw.iterative_scan = relaxed_order
set plan_cache_mode = force_custom_plan
as $$
declare
  exact_below constant int := 2000;
  windows_per_campaign constant float8 := 1.5;
begin
  if p_query_embedding is null then
    return;
  end if;
  if cardinality(p_ids) <= exact_below then
    return query
      select e.record_id, 1 - min(e.embedding <=> p_query_embedding) as similarity
      from campaign_embeddings e
      where e.record_id = any(p_ids) and e.embedding_type = p_field
      group by e.record_id
      having 1 - min(e.embedding <=> p_query_embedding) >= p_min_similarity
      order by similarity desc, e.record_id limit p_limit;
    return;
  end if;
  -- the field as a literal: else no partial index is known to hold it
  return query execute format(
    'select w.record_id, 1 - min(w.distance) as similarity from ('
    '  select e.record_id, e.embedding <=> $1 as distance from campaign_embeddings e'
    '  where e.embedding_type = %L%s order by e.embedding <=> $1 limit %s'
    ') w group by w.record_id having 1 - min(w.distance) >= $2 order by 2 desc, 1 limit $3',
    p_field, case when p_ids is null then '' else ' and e.record_id = any($4)' end, ceil(p_limit * windows_per_campaign))
    using p_query_embedding, p_min_similarity, p_limit, p_ids;
end
$$;
