-- The rows of one table nearest in meaning, nearest first, at most p_limit. A row with several vectors (windows of a long text) is as
-- near as its nearest one; `p_key` is the column of p_embeddings that names the row. `similarity` is the cosine similarity, -1 to 1.
--
-- `p_filter` is a condition over a row `t` of the table, as SQL, and p_required what its text must match: only rows that meet them
-- are found. The filter is made by the service, never taken from a caller's text.
--
-- Where these conditions leave few rows, they are compared exactly: faster than walking the index past all others, and complete.
-- Whether they do is seen from max_looked_at rows, and the index is walked no farther than hnsw.max_scan_tuples, whatever the query.
-- With p_complete, where that found too little, all rows that meet the conditions are compared, however many: they are far from the query.
create or replace function vector_candidates(
  p_table regclass, p_embeddings regclass, p_embedding halfvec, p_limit int, p_filter text default null, p_required tsquery default null,
  p_key name default 'record_id', p_complete boolean default false
) returns table (id text, similarity double precision)
language plpgsql stable
set hnsw.ef_search = 128
set hnsw.iterative_scan = relaxed_order
set hnsw.max_scan_tuples = 2500
set synchronize_seqscans = off
as $$
declare
  exact_below constant int := 2000;
  max_looked_at constant int := 2500;
  windows_per_row constant float8 := 1.5;
  wanted constant int := ceil(p_limit * windows_per_row);
  conditions constant text := concat_ws(' and ', '(' || p_filter || ')', case when numnode(p_required) > 0 then 't.text_search @@ $3' end);
  rows_left int;
  is_exact boolean;
  near record;
begin
  if p_embedding is null then
    return;
  end if;
  if p_filter is not null then
    execute format('select count(*) from (select from %s t where %s limit %s) t', p_table, p_filter, max_looked_at) into rows_left;
  end if;
  is_exact := coalesce(rows_left <= exact_below, false);

  loop
    execute format(
      'select array_agg(n.id) as ids, array_agg(n.similarity) as similarities, max(n.windows) as windows from ('
      '  select w.id, 1 - min(w.distance) as similarity, sum(count(*)) over () as windows'
      '  from (select e.%I as id, e.embedding <=> $1 as distance from %s e %s%s) w group by w.id order by 2 desc, 1 limit $2'
      ') n',
      p_key, p_embeddings,
      -- row by row along the index where many rows fit: no plan that tests the whole table first
      case when conditions <> '' then format(
        case when is_exact then 'join %s t on t.id = e.%I where %s'
          else 'cross join lateral (select from %s t where t.id = e.%I and %s offset 0) t' end, p_table, p_key, conditions) end,
      case when is_exact then '' else format(' order by e.embedding <=> $1 limit %s', wanted) end)
      into near using p_embedding, p_limit, p_required;
    exit when is_exact or conditions = '' or not p_complete or near.windows >= wanted;
    is_exact := true;
  end loop;
  return query select * from unnest(near.ids, near.similarities);
end
$$;
