-- The rows of one table nearest in meaning, nearest first, at most p_limit. A row with several vectors (windows of a long text) is as
-- near as its nearest one. `similarity` is the cosine similarity, -1 to 1. Of a table with vectors of several kinds, those of
-- p_embedding_type are compared.
--
-- `p_filter` is a condition over a row `t` of the table, as SQL, and p_required what its text must match: only rows that meet them
-- are found. The filter is made by the service, never taken from a caller's text.
--
-- Where these conditions leave few rows, they are compared exactly: faster than walking the index past all others, and complete.
-- Whether they do is seen from max_looked_at rows, and the index is walked no farther than that, whatever the query.
create or replace function vector_candidates(
  p_table regclass, p_embeddings regclass, p_embedding halfvec, p_limit int, p_filter text default null, p_required tsquery default null,
  p_embedding_type text default null
) returns table (id text, similarity double precision)
language plpgsql stable
set hnsw.ef_search = 128
set hnsw.iterative_scan = relaxed_order
set hnsw.max_scan_tuples = 2500
set synchronize_seqscans = off
as $$
declare
  max_looked_at constant int := greatest(2500, 25 * p_limit);
  exact_below constant int := 4 * max_looked_at / 5;
  -- those of long texts come together
  windows_per_row constant float8 := 1 + 1.5 * least(3, greatest(0, (
    select e.reltuples / t.reltuples - 1 from pg_class e, pg_class t where e.oid = p_embeddings and t.oid = p_table and t.reltuples > 0)));
  -- as a literal: else no partial index is known to hold it
  kind constant text := case when p_embedding_type is not null then format('e.embedding_type = %L', p_embedding_type) end;
  conditions constant text := concat_ws(' and ', '(' || p_filter || ')', case when numnode(p_required) > 0 then 't.text_search @@ $3' end);
  source text := format('%s e', p_embeddings);
  fitting text[];  -- ids that meet p_filter
  are_few boolean := false;
begin
  if p_embedding is null then
    return;
  end if;
  if conditions <> '' then
    if p_filter is not null then
      execute format('select array(select t.id from %s t where %s limit %s)', p_table, p_filter, max_looked_at) into fitting;
      are_few := cardinality(fitting) <= exact_below;
    end if;
    -- row by row where many rows fit: no plan that tests the whole table first
    source := case when are_few and numnode(p_required) > 0 then
        format('%s e join %s t on t.id = e.record_id and t.id = any($4) and t.text_search @@ $3', p_embeddings, p_table)
      when are_few then format('(select * from %s where record_id = any($4)) e', p_embeddings)
      else format('%s e cross join lateral (select from %s t where t.id = e.record_id and %s offset 0) t', p_embeddings, p_table, conditions) end;
    -- for this call only: the function's own setting is restored behind it
    perform set_config('hnsw.max_scan_tuples', max_looked_at::text, true);
  end if;

  return query execute format(
    'select w.record_id, 1 - min(w.distance) from ('
    '  select e.record_id, e.embedding <=> $1 as distance from %s%s%s'
    ') w group by w.record_id order by 2 desc, 1 limit $2',
    source, ' where ' || kind,
    case when are_few then '' else format(' order by e.embedding <=> $1 limit %s', ceil(p_limit * windows_per_row)) end)
    using p_embedding, p_limit, p_required, fitting;
end
$$;
