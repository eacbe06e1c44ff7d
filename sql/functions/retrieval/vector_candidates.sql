-- The rows of one table nearest in meaning, nearest first, at most p_limit. A row with several vectors (windows of a long text) counts with
-- its nearest one. `similarity` is the cosine similarity, -1 to 1.
-- In a table with several types of vectors, those of p_embedding_type are compared.
--
-- `p_filter` is an SQL condition on a row `t` of the table, and p_required what its text must match: only rows that meet them are found.
-- The filter is built by the service, never taken from a caller's text.
--
-- If the filter leaves few rows, they are compared exactly: this is faster than walking the index past all others, and complete. Otherwise
-- the index is walked, at most max_looked_at rows for any query, and less far if fewer of them are expected to lack the words that
-- p_required excludes; if there are none, max_in_vain. p_fitting are the ids of the rows that meet the filter, if known; of very many, the
-- first max_few and one more. If unknown, they are looked up, unless p_fits_many says that many meet it. Without a filter only the
-- rows of p_fitting are found.
create or replace function vector_candidates(
  p_table regclass, p_embeddings regclass, p_embedding halfvec, p_limit int, p_filter text default null, p_required tsquery default null,
  p_embedding_type text default null, p_fitting text[] default null, p_fits_many boolean default false
) returns table (id text, similarity double precision)
language plpgsql stable
set work_mem = '32MB'  -- the owners of related rows that no index finds are read once, into memory
set enable_seqscan = on  -- regardless of the caller's setting
set hnsw.ef_search = 128
set hnsw.iterative_scan = relaxed_order
set hnsw.max_scan_tuples = 2500
set synchronize_seqscans = off
as $$
declare
  max_in_vain constant int := 500;
  max_looked_at int := greatest(2500, 25 * p_limit);
  max_few constant int := greatest(2000, 40 * p_limit);  -- as expensive as the walk, and complete
  -- long texts have several adjacent vectors
  windows_per_row constant float8 := 1 + 1.5 * least(3, greatest(0, (
    select e.reltuples / t.reltuples - 1 from pg_class e, pg_class t where e.oid = p_embeddings and t.oid = p_table and t.reltuples > 0)));
  wanted constant int := ceil(p_limit * coalesce(windows_per_row, 1));
  -- as a literal: otherwise the planner cannot use a partial index
  kind constant text := case when p_embedding_type is not null then format('e.embedding_type = %L', p_embedding_type) end;
  required constant text := case when numnode(p_required) > 0 then 't.text_search @@ $3' end;
  conditions constant text := concat_ws(' and ',
    -- not `any`: the planner would estimate it id by id and, as a condition of the index, sort the ids for each row
    coalesce('(' || p_filter || ')', case when p_fitting is not null then 't.id in (select unnest($4)) is true' end), required);
  few text[];
begin
  if p_embedding is null then
    return;
  end if;
  few := p_fitting;
  if few is null and p_filter is not null and not p_fits_many then
    execute format('select array(select t.id from %s t where %s limit %s)', p_table, p_filter, max_few + 1) into few;
  end if;
  few := case when cardinality(few) <= max_few then few end;
  if conditions <> '' then
    if querytree(p_required) = 'T' and p_required::text !~ '<|\([^)]*&' then
      max_looked_at := max_in_vain + (max_looked_at - max_in_vain) * least(1, max_looked_at / wanted::float8 * exp((
        select coalesce(sum(ln(greatest(0.5, t.rows - c.rows)::float8 / greatest(1, t.rows))), 0)
        from text_totals t join lexeme_counts c using (of_table)
        where t.of_table = p_table::text and c.lexeme = any(array(
          select replace(m.word[1], '''''', '''') from regexp_matches(p_required::text, $re$'((?:[^']|'')+)'$re$, 'g') m (word))))));
    end if;
    -- for this call only: the function's own setting is restored after it
    perform set_config('hnsw.max_scan_tuples', max_looked_at::text, true);
  end if;

  return query execute format(
    'select w.id, 1 - min(w.distance) from (select e.record_id as id, e.embedding <=> $1 as distance from %s e %s) w'
    ' group by w.id order by min(w.distance), 1 limit $2',
    p_embeddings, case
      when few is not null and required is null then concat_ws(' and ', 'where e.record_id = any ($4)', kind)
      when few is not null then
        concat_ws(' and ', format('join %s t on t.id = e.record_id where t.id = any ($4)', p_table), required, kind)
      -- row by row along the index, not by a plan that tests the whole table first
      else concat(
        case when conditions <> '' then
          format('cross join lateral (select from %s t where t.id = e.record_id and %s offset 0) t', p_table, conditions) end,
        ' where ' || kind, ' order by e.embedding <=> $1 limit ', wanted) end)
    using p_embedding, p_limit, p_required, coalesce(few, p_fitting);
end
$$;
