-- Campaigns near in meaning to a query: the cosine similarity of p_query_embedding to the nearest window of the field p_field
-- (profile, campaign_text, offer, key_value_props), at least p_min_similarity, nearest first, among those that pass the filters of
-- passing_campaigns.
--
-- With filters, the campaigns that pass are compared one by one where they are few: that is faster than walking the index past all
-- others, and complete.
create or replace function search_campaigns(
  p_query_embedding halfvec, p_field text default 'profile', p_limit int default 50, p_min_similarity double precision default 0.25,
  p_channels text[] default null, p_companies text[] default null, p_brands text[] default null,
  p_value_props text[] default null, p_sentiments text[] default null, p_visual_styles text[] default null,
  p_also_value_props text[] default null, p_offers text[] default null, p_has_offer boolean default null, p_from date default null, p_to date default null
) returns table (id text, score double precision)
language plpgsql stable
set hnsw.ef_search = 200
set hnsw.iterative_scan = relaxed_order
set plan_cache_mode = force_custom_plan
as $$
declare
  exact_below constant int := 2000;
  windows_per_campaign constant float8 := 1.5;
  unfiltered constant boolean := num_nulls(
    p_channels, p_companies, p_brands, p_value_props, p_sentiments, p_visual_styles, p_also_value_props, p_offers, p_has_offer, p_from, p_to) = 11;
  passing text[];
begin
  if p_query_embedding is null then
    return;
  end if;
  if not unfiltered then
    passing := array(
      select c.id from passing_campaigns(
        p_channels, p_companies, p_brands, p_value_props, p_sentiments, p_visual_styles, p_also_value_props, p_offers, p_has_offer, p_from, p_to) c
      limit exact_below + 1);
  end if;
  if cardinality(passing) <= exact_below then
    return query
      select e.record_id, 1 - min(e.embedding <=> p_query_embedding) as similarity
      from campaign_embeddings e
      where e.record_id = any(passing) and e.embedding_type = p_field
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
    p_field,
    case when unfiltered then '' else ' and exists (select from passing_campaigns($4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) c where c.id = e.record_id)' end,
    ceil(p_limit * windows_per_campaign))
    using p_query_embedding, p_min_similarity, p_limit, p_channels, p_companies, p_brands, p_value_props, p_sentiments,
      p_visual_styles, p_also_value_props, p_offers, p_has_offer, p_from, p_to;
end
$$;
