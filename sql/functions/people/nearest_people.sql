-- The p_limit people with the cards nearest in meaning and the p_limit people with the nearest children, among the cards that the
-- filters let through (vector_candidates), each with the place in its list. A child's vectors count as further windows of its card.
--
-- Whether few cards fit is asked once for both: then these alone are compared. Of no more than p_limit the people are taken as they
-- are, also where there is no vector yet. Without p_embedding nobody is nearer than others: any that fit.
create or replace function nearest_people(
  p_embedding halfvec, p_filters card_filters, p_excluded_people text[], p_among text[], p_limit int
) returns table (person_id text, place bigint)
language plpgsql stable
set plan_cache_mode = force_generic_plan
set random_page_cost = 1.1  -- of pages in memory, where an index that is searched all day is
as $$
#variable_conflict use_column
declare
  few constant int := 2000;
  cards_each constant int := 2;  -- of a person, among the nearest
  fitting constant text := card_condition('t', p_filters, p_excluded_people, p_among);
  cards text[];
  are_few boolean;
begin
  execute format(
    'select array(select t.id from experience_cards t where %s limit %s)',
    fitting, case when p_embedding is null then p_limit else few + 1 end)
    into cards;
  are_few := cardinality(cards) <= few;
  if cardinality(cards) <= p_limit then
    return query select c.person_id, 1::bigint from experience_cards c where c.id = any(cards);
    return;
  end if;
  return query
    select n.*
    from (values ('experience_card_embeddings'::regclass, 'record_id'), ('experience_card_child_embeddings', 'card_id')) e (vectors, key),
      lateral (
        select c.person_id, row_number() over (order by max(v.similarity) desc, c.person_id)
        from vector_candidates(
            'experience_cards', e.vectors, p_embedding, cards_each * p_limit, fitting, p_key => e.key,
            p_few => case when are_few then cards end, p_many => not are_few) v,
          lateral (select c.person_id from experience_cards c where c.id = v.id offset 0) c
        group by 1 order by 2 limit p_limit
      ) n;
end
$$;
