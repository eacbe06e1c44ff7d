-- Campaigns on a theme: those with profiles nearest to p_query_embedding, and those whose copy contains words of the query, up to p_limit
-- of each; only those that meet p_filter, see hybrid_candidates. `coverage` is the weighted share of the query's words in the copy.
-- Exclusions in p_query are handled by p_filter, which covers more than the copy, and by p_excluded: queries (see read_query) that no copy
-- may match. They are tested row by row, whereas a filter would search the whole table.
create or replace function search_campaigns_by_theme(
  p_query text, p_query_embedding halfvec, p_limit int, p_filter text default null, p_excluded text[] default '{}'
) returns table (id text, coverage double precision, similarity double precision)
language plpgsql stable
as $$
declare
  weighed weighed_query := weigh_query(array['campaigns'], p_query);
begin
  weighed.required := (
    select string_agg('!(' || q.query::text || ')', ' & ')::tsquery
    from unnest(p_excluded) e (said), parsed_query(e.said) q (query) where numnode(q.query) > 0);
  return query
    select c.id, c.coverage, c.similarity
    from hybrid_candidates('campaigns', 'campaign_embeddings', weighed, p_query_embedding, p_limit, p_filter,
      p_rows => greatest(500, 2 * p_limit), p_embedding_type => 'profile') c;
end
$$;
