-- The candidates: the p_limit people with the cards nearest in meaning and the p_limit people with the nearest children, among the
-- cards that the filters let through. A text with several vectors (windows of it) is as near as its nearest one.
--
-- To find `wanted` vectors among n of which a share fits, the index is expected to walk past wanted / share of them; comparing all
-- that fit takes share · n. Both are √(wanted · n) where they are equal: fewer cards than that are compared all, which is complete,
-- too. Where the index has walked twice as far and found too little, all that fits is far from the query, and is compared as well.
create or replace function nearest_people(
  p_embedding halfvec, p_filters card_filters, p_excluded_people text[], p_excluded_cards text[], p_limit int
) returns text[]
language plpgsql stable
set plan_cache_mode = force_custom_plan
set random_page_cost = 1.1
as $$
declare
  wanted constant int := 2 * p_limit;
  break_even constant int := (
    select sqrt(wanted * greatest(c.reltuples, 10000)) from pg_class c where c.oid = 'experience_cards'::regclass);
  everyone constant boolean := p_filters is null and p_excluded_people = '{}' and p_excluded_cards = '{}';
  fitting_max int := break_even + 1;
  cards text[];
  owners text[];
  by_card record;
  by_child record;
begin
  loop
    if not everyone or fitting_max is null then
      select array_agg(f.id), array_agg(f.person_id) into cards, owners
      from (
        select c.id, c.person_id from experience_cards c left join people p on p.id = c.person_id
        where card_matches(c, p, p_filters) and c.person_id <> all(p_excluded_people) and c.id <> all(p_excluded_cards)
        limit fitting_max
      ) f;
      exit when fitting_max is null or coalesce(cardinality(cards), 0) < fitting_max;
    end if;
    by_card := walk_nearest_vectors('experience_card_embeddings', 'record_id', p_embedding, p_filters,
      p_excluded_people, p_excluded_cards, wanted, p_limit, 2 * break_even);
    by_child := walk_nearest_vectors('experience_card_child_embeddings', 'card_id', p_embedding, p_filters,
      p_excluded_people, p_excluded_cards, wanted, p_limit, 2 * break_even);
    if by_card.complete and by_child.complete then
      return array(select unnest(by_card.people) union select unnest(by_child.people));
    end if;
    fitting_max := null;
  end loop;

  return array(
    (select f.person_id from unnest(cards, owners) f (card_id, person_id) join experience_card_embeddings e on e.record_id = f.card_id
      group by f.person_id order by min(e.embedding <=> p_embedding), f.person_id limit p_limit)
    union
    (select f.person_id from unnest(cards, owners) f (card_id, person_id) join experience_card_child_embeddings e on e.card_id = f.card_id
      group by f.person_id order by min(e.embedding <=> p_embedding), f.person_id limit p_limit));
end
$$;
