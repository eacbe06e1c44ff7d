-- The p_limit people nearest to p_embedding by one table of vectors, as far as its index finds them: the p_wanted nearest vectors of
-- cards that the filters let through, with at most p_max_walk vectors looked at. `complete` is false where that was not enough.
-- A text with several vectors (windows of it) is as near as its nearest one.
create or replace function walk_nearest_vectors(
  p_vectors regclass, p_card_id name, p_embedding halfvec, p_filters card_filters, p_excluded_people text[], p_among text[],
  p_wanted int, p_limit int, p_max_walk int, out people text[], out complete boolean
)
language plpgsql stable
set hnsw.ef_search = 200
set hnsw.iterative_scan = relaxed_order
set hnsw.max_scan_tuples = 20000
as $$
begin
  perform set_config('hnsw.max_scan_tuples', p_max_walk::text, true);
  execute format(
    'with near as materialized ('
    '  select c.person_id, e.embedding <=> $1 as distance'
    '  from %1$s e join searched_cards($2, $3, $7) c on c.id = e.%2$I'
    '  where not is_left_out(c.person_id, $2, $3)'
    '  order by e.embedding <=> $1 limit $4'
    ') select array(select n.person_id from near n group by n.person_id order by min(n.distance), n.person_id limit $5),'
    '  (select count(*) from near) = $4 or (select count(*) from (select from %1$s limit $6 + 1) v) <= $6',
    p_vectors, p_card_id)
    into people, complete
    using p_embedding, p_filters, p_excluded_people, p_wanted, p_limit, p_max_walk, p_among;
end
$$;
