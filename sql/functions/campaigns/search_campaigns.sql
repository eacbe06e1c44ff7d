-- Campaigns nearest in meaning to a query, nearest first: the cosine similarity of p_query_embedding to the nearest window of the field
-- p_field (profile, campaign_text, offer, key_value_props) must be at least p_min_similarity. Only campaigns that meet p_filter; see
-- vector_candidates.
create or replace function search_campaigns(
  p_query_embedding halfvec, p_field text default 'profile', p_limit int default 50, p_min_similarity double precision default 0.25,
  p_filter text default null
) returns table (id text, score double precision)
language sql stable
as $$
  select v.id, v.similarity
  from vector_candidates('campaigns', 'campaign_embeddings', p_query_embedding, p_limit, p_filter, p_embedding_type => p_field) v
  where v.similarity >= p_min_similarity
  order by v.similarity desc, v.id
$$;
