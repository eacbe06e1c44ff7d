-- The people of the p_limit cards, and of the p_limit children, that rank best for the words of a query (text_candidates) among those that
-- pass the filters and have no vectors yet, or outdated ones: meaning does not find these. Each with the rank in its list.
create or replace function people_by_words(
  p_query weighed_query, p_filters card_filters, p_excluded_people text[], p_among text[], p_limit int
) returns table (person_id text, place bigint)
language plpgsql stable
set plan_cache_mode = force_generic_plan
set random_page_cost = 1.1
as $$
#variable_conflict use_column
declare
  few constant int := 2000;
  -- ordered, so that the partial index is used
  cards constant text[] := array(
    select c.id from experience_cards c where c.embedded_hash is distinct from c.content_hash order by c.id limit few + 1);
  children constant text[] := array(
    select k.id from experience_card_children k where k.embedded_hash is distinct from k.content_hash order by k.id limit few + 1);
  -- few rows: the planner does not know how few
  waiting constant text := case when greatest(cardinality(cards), cardinality(children)) <= few
    then 't.id = any (%L::text[]) and %s' else 't.embedded_hash is distinct from t.content_hash and %2$s' end;
begin
  if cards <> '{}' then
    return query
      select c.person_id, row_number() over (order by w.text_score desc, w.id)
      from text_candidates('experience_cards', p_query, p_limit,
          format(waiting, cards, card_condition('t', p_filters, p_excluded_people, p_among))) w,
        lateral (select c.person_id from experience_cards c where c.id = w.id offset 0) c;
  end if;
  if children <> '{}' then
    return query
      select c.person_id, row_number() over (order by w.text_score desc, w.id)
      from text_candidates('experience_card_children', p_query, p_limit, format(waiting, children, format(
          'exists (select from experience_cards c where c.id = t.card_id and %s)', card_condition('c', p_filters, p_excluded_people, p_among)))) w,
        lateral (
          select c.person_id from experience_card_children k join experience_cards c on c.id = k.card_id where k.id = w.id offset 0) c;
  end if;
end
$$;
