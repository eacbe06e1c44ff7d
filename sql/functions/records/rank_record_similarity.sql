-- The semantic half of records search, for one table: the rows nearest in meaning, nearest first. A row with several vectors
-- (windows of a long text) is as near as its nearest one. `similarity` is the cosine similarity, -1 to 1. Only rows of the given
-- dates, of p_ids where they are given, and rows that match p_required: what a query insists on holds for both halves.
--
-- Where these conditions leave few rows, they are compared exactly: faster than walking the index past all others, and complete.
-- Whether they do is seen from max_looked_at rows, and the index is walked no farther than hnsw.max_scan_tuples, whatever the query.
create or replace function rank_record_similarity(
  p_table regclass, p_embeddings regclass, p_embedding halfvec, p_limit int,
  p_from date default null, p_to date default null, p_required tsquery default null,
  p_ids text[] default null
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
  in_scope constant text := concat_ws(' and ',
    case when p_from is not null then 'r.date >= $2' end, case when p_to is not null then 'r.date <= $3' end,
    case when p_ids is not null then 'r.id = any($6)' end);
  required constant text := case when numnode(p_required) > 0 then 'r.text_search @@ $4' end;
  indexed constant tsquery := index_query(p_required);
  conditions constant text := concat_ws(' and ', nullif(in_scope, ''), required);
  source text := format('%s e', p_embeddings);
  rows_left int;
  looked_at int;
begin
  if p_embedding is null then
    return;
  end if;
  if conditions <> '' then
    execute format('select count(*), count(*) filter (where r.fits) from (select %s as fits from %s r where %s limit %s) r',
      coalesce(required, 'true'), p_table,
      concat_ws(' and ', 'true', nullif(in_scope, ''), case when numnode(indexed) > 0 then 'r.text_search @@ $5' end), max_looked_at)
      into looked_at, rows_left using p_embedding, p_from, p_to, p_required, indexed, p_ids;
    if looked_at = max_looked_at then
      rows_left := null;
      if required is not null then
        -- a phrase is dearer to test than a date
        perform set_config('hnsw.max_scan_tuples', '1200', true);
      end if;
    end if;
    source := format(
      case when rows_left is null and required is not null
        -- row by row along the index: no plan that tests the words of the whole table first
        then '%s e cross join lateral (select from %s r where r.id = e.record_id and %s offset 0) r'
        else '%s e join %s r on r.id = e.record_id where %s' end, p_embeddings, p_table, conditions);
  end if;

  return query execute format(
    'select w.record_id, 1 - min(w.distance) from ('
    '  select e.record_id, e.embedding <=> $1 as distance from %s%s'
    ') w group by w.record_id order by 2 desc, 1 limit $5',
    source,
    case when rows_left <= exact_below then '' else format(' order by e.embedding <=> $1 limit %s', ceil(p_limit * windows_per_row)) end)
    using p_embedding, p_from, p_to, p_required, p_limit, p_ids;
end
$$;
