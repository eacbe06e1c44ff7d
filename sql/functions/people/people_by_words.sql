-- The p_limit people whose texts hold most of some words (weigh_words: the words, their weights and a tsquery for the texts worth
-- ranking), among the cards and children that have no vectors yet, or those of an older text, and that the filters let through: those
-- that meaning does not find.
--
-- Mostly they are few, which a partial index holds, and any of the words will do. Where there are more than p_max_texts, cards or
-- children, those worth ranking are looked up by their words, and any p_max_texts of each are ranked.
create or replace function people_by_words(
  p_words text[], p_weights double precision[], p_candidates tsquery, p_filters card_filters, p_excluded_people text[], p_among text[],
  p_limit int, p_max_texts int
) returns text[]
language plpgsql stable
set plan_cache_mode = force_custom_plan
set random_page_cost = 1.1
as $$
declare
  -- ordered, so that the partial index serves: nothing tells the planner how few they are
  cards constant text[] := array(
    select c.id from experience_cards c where c.embedded_hash is distinct from c.content_hash order by c.id limit p_max_texts + 1);
  children constant text[] := array(
    select k.id from experience_card_children k where k.embedded_hash is distinct from k.content_hash order by k.id limit p_max_texts + 1);
  few constant boolean := cardinality(cards) <= p_max_texts and cardinality(children) <= p_max_texts;
  wanted tsquery := p_candidates;
begin
  if p_words is null or cards = '{}' and children = '{}' then
    return '{}';
  end if;
  if few then
    wanted := (select string_agg(quote_literal(u.word), ' | ')::tsquery from unnest(p_words) u (word));
  end if;
  return array(
    with texts as materialized (
      (select c.person_id, c.text_search
       from searched_cards(p_filters, p_excluded_people, p_among) c
       where (not few or c.id = any(cards)) and c.embedded_hash is distinct from c.content_hash and c.text_search @@ wanted
         and not is_left_out(c.person_id, p_filters, p_excluded_people)
       limit p_max_texts)
      union all
      (select c.person_id, k.text_search
       from experience_card_children k join searched_cards(p_filters, p_excluded_people, p_among) c on c.id = k.card_id
       where (not few or k.id = any(children)) and k.embedded_hash is distinct from k.content_hash and k.text_search @@ wanted
         and not is_left_out(c.person_id, p_filters, p_excluded_people)
       limit p_max_texts)
    )
    select t.person_id
    from texts t cross join lateral (
      select sum(u.weight) as score from unnest(p_words, p_weights) u (word, weight)
      where t.text_search @@ quote_literal(u.word)::tsquery
    ) held
    group by t.person_id order by max(held.score) desc nulls last, t.person_id limit p_limit);
end
$$;
