-- The p_limit people with the cards nearest in meaning and the p_limit people with the nearest children, among the cards that pass the
-- filters, each with the rank in its list. A child's vectors count as further windows of its card. Without p_embedding, any people that
-- match.
--
-- One way reads the matching cards and compares only these, by key; if they belong to at most p_limit people, these are taken without
-- comparison, even without vectors. The other walks the vector indexes until there are enough people, and checks each card found: the
-- smaller the matching share, the longer the walk, so it costs the same in a table of any size. If more than a few match, the estimates of
-- ANALYZE decide: walking both indexes must be expected to cost two thirds of comparing. A walk stops if it costs as much, or if it would,
-- judging by a trial: the matching cards are then far from the query, and are compared after all.
--
-- vector_candidates does not fit, since it looks for rows, not for enough people with several rows each. Volatile, since Postgres allows
-- explain in no other function.
create or replace function nearest_people(
  p_embedding halfvec, p_filters card_filters, p_excluded_people text[], p_among text[], p_limit int
) returns table (person_id text, place bigint)
language plpgsql volatile
set plan_cache_mode = force_generic_plan
set random_page_cost = 1.1  -- pages are in memory: the index is searched all day
set hnsw.ef_search = 128
set hnsw.iterative_scan = relaxed_order
set hnsw.max_scan_tuples = 2147483647
set synchronize_seqscans = off
set enable_nestloop = on  -- regardless of the caller's setting
as $$
#variable_conflict use_column
declare
  few constant int := 10 * p_limit;
  enough constant int := p_limit + p_limit / 4;  -- people, since the walk returns the nearest only roughly in order
  at_first constant int := 3 * p_limit;  -- vectors whose people are looked up
  trial constant int := 400;  -- vectors
  -- measured, in the planner's cost units
  comparing_cost constant float8 := 4;  -- a card and its children
  passing_cost constant float8 := 11;  -- a vector from the index, and a check of its card
  -- the planner takes it that a third of those who are something by their stems are so by the words; nearly all are
  of_expected constant float8 := case when p_filters.roles is not null then 3 else 1 end;
  fitting constant text := card_condition('t', p_filters, p_excluded_people, p_among);
  of_fitting constant text := 'from experience_cards t where ' || fitting;
  all_fitting constant text := 'select array_agg(t.id), array_agg(t.person_id) from (select t.id, t.person_id ' || of_fitting;
  fit text[];
  owners text[];  -- of the matching cards, in order
  plan json;
  walked int;  -- expected number of vectors
  most_walked int;
  walks boolean;
  vectors record;
  passed record;
  passed_count int;
  people text[];
  distances float8[];
  complete boolean;
  compared int[] := '{}';  -- lists
  of_vectors int := at_first;
  places bigint[];
begin
  if p_embedding is null then
    return query execute format('select t.person_id, 1::bigint %s limit %s', of_fitting, p_limit);
    return;
  end if;
  execute 'explain (format json) select t.id ' || of_fitting into plan;
  select least(1e9, enough * greatest(c.reltuples, 1) / f.rows), least(1e9, (f.cost + comparing_cost * f.rows) / passing_cost)
  into walked, most_walked
  from pg_class c,
    (select greatest(1, of_expected * (plan -> 0 -> 'Plan' ->> 'Plan Rows')::float8) as rows, (plan -> 0 -> 'Plan' ->> 'Total Cost')::float8 as cost) f
  where c.oid = 'experience_cards'::regclass;
  walks := walked < most_walked / 3;
  execute all_fitting || case when walks then ' limit ' || few + 1 else ' order by 1' end || ') t' into fit, owners;
  if coalesce(cardinality(fit), 0) <= p_limit then
    return query select o.person_id, 1::bigint from unnest(owners) o (person_id);
    return;
  end if;
  walks := walks and cardinality(fit) > few;
  if walks then
    fit := null;
  end if;

  for vectors in
    select * from (values (1, 'experience_card_embeddings', 'record_id'), (2, 'experience_card_child_embeddings', 'card_id')) v (list, of_table, key)
  loop
    people := '{}';
    complete := false;
    if compared = '{}' and walks then
      distances := '{}';
      passed_count := 0;
      for passed in execute format(
        'select t.person_id, e.distance from (select e.%I as id, e.embedding <=> $1 as distance from %I e order by 2 limit $2) e'
        ' left join lateral (select t.person_id from experience_cards t where t.id = e.id and %s offset 0) t on true',
        vectors.key, vectors.of_table, fitting) using p_embedding, most_walked
      loop
        passed_count := passed_count + 1;
        if passed.person_id is not null and passed.person_id <> all (people) then
          people := people || passed.person_id;
          distances := distances || passed.distance;
          exit when cardinality(people) = enough;
        end if;
        if passed_count >= trial and cardinality(people)::float8 / passed_count < enough::float8 / most_walked then
          passed_count := most_walked;  -- given up
          exit;
        end if;
      end loop;
      -- with few vectors, all were seen; the walk also ends when its memory is full
      complete := cardinality(people) = enough
        or passed_count < most_walked and passed_count >= (select 0.9 * c.reltuples from pg_class c where c.oid = vectors.of_table::regclass);
    end if;
    if complete then
      return query
        select n.person_id, row_number() over (order by n.distance, n.person_id) from unnest(people, distances) n (person_id, distance)
        order by 2 limit p_limit;
    else
      compared := compared || vectors.list;
    end if;
  end loop;
  if compared = '{}' then
    return;
  elsif fit is null then
    execute all_fitting || ' order by 1) t' into fit, owners;
  end if;
  -- the planner does not know how many match; for this call only: the function's own setting is restored after it
  perform set_config('enable_nestloop', 'off', true);

  loop
    with nearest as (
      (select 1 as list, e.id, e.distance
       from (select e.record_id as id, e.embedding <=> p_embedding as distance from experience_card_embeddings e where e.record_id = any(fit) offset 0) e
       where 1 = any(compared) order by 3 limit of_vectors)
      union all
      (select 2, e.id, e.distance
       from (select e.card_id as id, e.embedding <=> p_embedding as distance from experience_card_child_embeddings e where e.card_id = any(fit) offset 0) e
       where 2 = any(compared) order by 3 limit of_vectors)
    ), found as (
      select n.list, o.person_id, count(*) as vectors, row_number() over (partition by n.list order by min(n.distance), o.person_id) as place
      from nearest n join unnest(fit, owners) o (id, person_id) using (id) group by 1, 2
    )
    select array_agg(f.person_id), array_agg(f.place),
      -- this many vectors rarely belong to fewer people than requested; if they do, all are looked up
      case when bool_or(f.full_list and f.last_place < p_limit) then null else 0 end
    into people, places, of_vectors
    from (
      select f.*, sum(f.vectors) over of_list = of_vectors as full_list, max(f.place) over of_list as last_place
      from found f window of_list as (partition by f.list)
    ) f;
    exit when of_vectors = 0;
  end loop;
  return query select n.person_id, n.place from unnest(people, places) n (person_id, place) where n.place <= p_limit;
end
$$;
