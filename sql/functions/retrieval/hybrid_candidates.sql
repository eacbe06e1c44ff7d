-- The rows of one table found by words (text_candidates) or by meaning (vector_candidates), up to p_limit by each, with both scores. The
-- scores have the same meaning in every table that p_query was weighed for. p_fitting, p_fits_many: see text_candidates.
create or replace function hybrid_candidates(
  p_table regclass, p_embeddings regclass, p_query weighed_query, p_embedding halfvec, p_limit int, p_filter text default null,
  p_rows int default 2000, p_embedding_type text default null, p_fitting text[] default null, p_fits_many boolean default false
) returns table (id text, text_score double precision, coverage double precision, similarity double precision)
language sql stable
as $$
  select id, w.text_score, w.coverage, v.similarity
  from text_candidates(p_table, p_query, p_limit, p_filter, p_rows, p_fitting, p_fits_many) w
  full join vector_candidates(
    p_table, p_embeddings, p_embedding, p_limit, p_filter, (p_query).required, p_embedding_type, p_fitting, p_fits_many) v using (id)
$$;
