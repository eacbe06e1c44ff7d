-- The candidates: the p_limit people with the cards nearest in meaning and the p_limit people with the nearest children, among the
-- cards that the filters let through (vector_candidates). A child's vectors count as further windows of its card.
--
-- Whether few cards fit is asked once for both: then these alone are compared. Of no more than p_limit the people are taken as they
-- are, also where there is no vector yet. Without p_embedding nobody is nearer than others: any that fit.
--
-- Where so much is excluded that p_excluded_people is null, each candidate is tested (is_left_out), of the owners of max_tested cards;
-- who has not been found by then is not looked for among the others.
create or replace function nearest_people(
  p_embedding halfvec, p_filters card_filters, p_excluded_people text[], p_among text[], p_limit int
) returns text[]
language plpgsql stable
set plan_cache_mode = force_generic_plan
set random_page_cost = 1.1  -- of pages in memory, where an index that is searched all day is
as $$
declare
  cards_each constant int := 2;  -- of a person, among the nearest
  max_tested constant int := 500;
  wanted constant int := case when p_excluded_people is null then max_tested else p_limit * cards_each end;
  fitting constant text := card_condition('t', p_filters, p_excluded_people, p_among);
  few constant int := 2000;
  cards text[];
  are_few boolean;
begin
  execute format(
    'select array(select t.id from experience_cards t where %s limit %s)',
    fitting, case when p_embedding is null then wanted else few + 1 end)
    into cards;
  if p_embedding is null or cardinality(cards) <= p_limit then
    return array(
      select c.person_id from experience_cards c
      where c.id = any(cards) and not is_left_out(c.person_id, p_filters, p_excluded_people) limit p_limit);
  end if;
  are_few := cardinality(cards) <= few;

  return array(
    select n.person_id
    from (values ('experience_card_embeddings'::regclass, 'record_id'), ('experience_card_child_embeddings', 'card_id')) e (vectors, key),
      lateral (
        select o.person_id from (
          select o.person_id, max(v.similarity) as similarity
          from vector_candidates(
              'experience_cards', e.vectors, p_embedding, wanted, fitting, p_key => e.key,
              p_few => case when are_few then cards end, p_many => not are_few) v,
            lateral (select c.person_id from experience_cards c where c.id = v.id offset 0) o
          group by 1 order by 2 desc, 1 offset 0
        ) o
        where not is_left_out(o.person_id, p_filters, p_excluded_people)
        limit p_limit
      ) n);
end
$$;
