-- The p_limit people with the cards nearest in meaning and the p_limit people with the nearest children, among the cards that the
-- filters let through (vector_candidates), each with the place in its list. A child's vectors count as further windows of its card.
--
-- Whether few cards fit is asked once for both: then these alone are compared, by key and in one plan for all filters, since to plan
-- for each took longer than to compare. Of no more than p_limit the people are taken as they are, also where there is no vector yet. Without p_embedding nobody is nearer than others: any that fit.
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
  people text[];
begin
  execute format(
    'select array_agg(f.id), array_agg(f.person_id) from (select t.id, t.person_id from experience_cards t where %s limit %s) f',
    fitting, case when p_embedding is null then p_limit else few + 1 end)
    into cards, people;
  if cards is null then
    return;
  elsif cardinality(cards) <= p_limit then
    return query select u.person_id, 1::bigint from unnest(people) u (person_id);
  elsif cardinality(cards) <= few then
    return query
      with cards as materialized (select * from unnest(cards, people) u (id, person_id))
      (select c.person_id, row_number() over (order by max(1 - e.distance) desc, c.person_id) as place
       from cards c, lateral (
         select e.embedding <=> p_embedding as distance from experience_card_embeddings e where e.record_id = c.id offset 0) e
       group by 1 order by 2 limit p_limit)
      union all
      (select c.person_id, row_number() over (order by max(1 - e.distance) desc, c.person_id) as place
       from cards c, lateral (
         select e.embedding <=> p_embedding as distance from experience_card_child_embeddings e where e.card_id = c.id offset 0) e
       group by 1 order by 2 limit p_limit);
  else
    return query
      select n.*
      from (values ('experience_card_embeddings'::regclass, 'record_id'), ('experience_card_child_embeddings', 'card_id')) e (vectors, key),
        lateral (
          select c.person_id, row_number() over (order by max(v.similarity) desc, c.person_id)
          from vector_candidates(
              'experience_cards', e.vectors, p_embedding, cards_each * p_limit, fitting, p_key => e.key, p_many => true) v,
            lateral (select c.person_id from experience_cards c where c.id = v.id offset 0) c
          group by 1 order by 2 limit p_limit
        ) n;
  end if;
end
$$;
