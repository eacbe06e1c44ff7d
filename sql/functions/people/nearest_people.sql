-- The candidates: the p_limit people with the cards nearest in meaning and the p_limit people with the nearest children, among the
-- cards that the filters let through. A text with several vectors (windows of it) is as near as its nearest one.
--
-- There are two ways. The index, walked twice, is expected to pass wanted / share vectors each time, of n of which a share fits; or
-- all cards that fit, share · n, are compared with their children, which costs about as much for each as a vector passed. Both cost
-- the same where √(2 · wanted · n) fit. Fewer are compared all, which is also complete; they are looked for only where the planner
-- expects so few. Where the index has walked far and found too little, what fits is far from the query, and is compared as well.
--
-- random_page_cost is that of pages in memory, where an index that is searched all day is: else a thousand keys cost more than a
-- scan of all.
--
-- Without p_embedding nobody is nearer than others: any that fit.
--
-- Where so much is excluded that p_excluded_people is null, each candidate's owner is tested, of at most max_tested vectors of each
-- walk; who has not been found by then is not looked for among the others.
create or replace function nearest_people(
  p_embedding halfvec, p_filters card_filters, p_excluded_people text[], p_among text[], p_limit int
) returns text[]
language plpgsql stable
set plan_cache_mode = force_custom_plan
set random_page_cost = 1.1
as $$
declare
  wanted constant int := 3 * p_limit;
  break_even constant int := (
    select sqrt(2 * wanted * greatest(c.reltuples, 10000)) from pg_class c where c.oid = 'experience_cards'::regclass);
  tested constant boolean := p_excluded_people is null;
  max_tested constant int := 1000;
  -- one walk is expected to take break_even / 2 at most
  max_walk constant int := case when tested then max_tested else 1.5 * break_even / 2 end;
  cards text[];
  owners text[];
  by_card record;
  by_child record;
begin
  if p_embedding is null then
    return array(select distinct f.person_id from fitting_cards(p_filters, p_excluded_people, p_among, p_limit) f);
  end if;

  if expect_fitting_cards(p_filters, p_excluded_people, p_among) <= break_even then
    select coalesce(array_agg(f.card_id), '{}'), coalesce(array_agg(f.person_id), '{}') into cards, owners
    from fitting_cards(p_filters, p_excluded_people, p_among, break_even + 1) f;
  end if;

  if cardinality(cards) <= p_limit then
    return array(select distinct unnest(owners));
  elsif cards is null or cardinality(cards) > break_even then
    by_card := walk_nearest_vectors(
      'experience_card_embeddings', 'record_id', p_embedding, p_filters, p_excluded_people, p_among, wanted, p_limit, max_walk);
    if by_card.complete or tested then
      by_child := walk_nearest_vectors(
        'experience_card_child_embeddings', 'card_id', p_embedding, p_filters, p_excluded_people, p_among, wanted, p_limit, max_walk);
      if by_child.complete or tested then
        return array(select unnest(by_card.people) union select unnest(by_child.people));
      end if;
    end if;
    select array_agg(f.card_id), array_agg(f.person_id) into cards, owners
    from fitting_cards(p_filters, p_excluded_people, p_among, null) f;
  end if;

  return array(
    (select f.person_id from unnest(cards, owners) f (card_id, person_id) join experience_card_embeddings e on e.record_id = f.card_id
      group by f.person_id order by min(e.embedding <=> p_embedding), f.person_id limit p_limit)
    union
    (select f.person_id from unnest(cards, owners) f (card_id, person_id) join experience_card_child_embeddings e on e.card_id = f.card_id
      group by f.person_id order by min(e.embedding <=> p_embedding), f.person_id limit p_limit));
end
$$;
