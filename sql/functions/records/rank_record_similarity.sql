-- The semantic half of records search, for one table: the rows nearest in meaning, nearest first. A row with several vectors
-- (windows of a long text) is as near as its nearest one. `similarity` is the cosine similarity, -1 to 1.
--
-- Filtered by date, few rows left are compared exactly: faster than walking the index past all others, and complete.
create or replace function rank_record_similarity(
  p_table regclass, p_embeddings regclass, p_embedding halfvec, p_limit int, p_from date default null, p_to date default null
) returns table (id text, similarity double precision)
language plpgsql stable
set hnsw.ef_search = 200
set hnsw.iterative_scan = relaxed_order
as $$
declare
  exact_below constant int := 2000;
  windows_per_row constant int := 2;
  in_dates constant text := 'r.date >= coalesce($2, ''-infinity'') and r.date <= coalesce($3, ''infinity'')';
  left_by_dates int;
  source text := p_embeddings::text;
begin
  if p_embedding is null then
    return;
  end if;
  if p_from is not null or p_to is not null then
    execute format('select count(*) from (select 1 from %s r where %s limit %s) few', p_table, replace(replace(in_dates, '$2', '$1'), '$3', '$2'), exact_below + 1)
      into left_by_dates using p_from, p_to;
    source := format('%s e join %s r on r.id = e.record_id where %s', p_embeddings, p_table, in_dates);
  else
    source := p_embeddings::text || ' e';
  end if;

  return query execute format(case when left_by_dates <= exact_below then
      'select w.record_id, 1 - min(w.distance) from (select e.record_id, e.embedding <=> $1 as distance from %s) w'
      ' group by w.record_id order by 2 desc, 1 limit $4'
    else
      'select w.record_id, 1 - min(w.distance) from (select e.record_id, e.embedding <=> $1 as distance from %s order by e.embedding <=> $1 limit %s) w'
      ' group by w.record_id order by 2 desc, 1 limit $4'
    end, source, p_limit * windows_per_row)
    using p_embedding, p_from, p_to, p_limit;
end
$$;
