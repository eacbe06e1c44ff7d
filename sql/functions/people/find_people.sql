-- People near a query, with their evidence. Candidates are near in meaning (nearest_people) or by words in texts without vectors yet
-- (people_by_words). For each, the p_top_k nearest cards and the p_top_k nearest children that pass the filters. `similarity` is 1 / (1 +
-- distance). A hit says how the card relates to the original filters, p_asked, of which p_filters may be a relaxed form.
--
-- The distance is the cosine distance. For a text without a vector it is 1 − share / 2, by its share of the query's words: with all words
-- it is as near as texts on the same subject usually are, with none as far as unrelated ones. Without any word it is evidence only if it
-- contains a should term or the filters ask for something, which it then meets.
--
-- `text_score` and `should_hits` are per person, over all cards and children that pass the filters. The score of a text is ts_rank_cd by
-- any of the query's words; a person has that of the best text. should_hits counts the should terms in any of the texts.
--
-- If p_excluded_people is null because too many are excluded, each candidate is tested (is_ruled_out, which explains p_within and
-- p_profiles), among the first `places` of each list. An excluded card is no evidence.
--
-- For any query, only its max_words weightiest words and the first max_should_terms should terms are used. The one large statement keeps
-- its plan: it reads rows only by key, whatever the filters, and planning would cost as much as running it. Volatile, like nearest_people.
create or replace function find_people(
  p_embedding halfvec, p_query text, p_should_terms text[], p_filters card_filters, p_asked card_filters, p_excluded_people text[], p_within card_filters, p_profiles boolean,
  p_among text[], p_overfetch int, p_top_k int
) returns table (
  person_id text, card_id text, child_id text, similarity double precision,
  time_overlaps boolean, time_covered boolean, location_matches boolean, text_score double precision, should_hits int
)
language plpgsql volatile
security definer set search_path from current  -- reads whole people, whose contacts the serving role may not read
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  max_words constant int := 8;
  max_should_terms constant int := 63;  -- the bits of a bigint
  query constant text := searchable_text(p_query);
  asks_for_something constant boolean := p_among is not null or
    jsonb_strip_nulls(to_jsonb(p_filters)) - '{excluded_companies,excluded_keywords}'::text[] <> '{}';
  weighed constant weighed_query := weigh_query('{experience_cards,experience_card_children}', query, p_max_words => max_words);
  any_word constant tsquery := (select string_agg(quote_literal(w.word), ' | ')::tsquery from unnest((weighed).words) w (word));
  excluded_keywords constant tsquery := any_phrase(p_asked.excluded_keywords);
  excluded_places constant tsquery := any_place(p_asked.excluded_places);
  -- from more places if each candidate is tested
  places constant int := case when p_excluded_people is null then 5 else 1 end * p_overfetch;
  candidates constant text[] := array(
    select c.person_id
    from (
      select f.person_id from (
        select * from nearest_people(p_embedding, p_filters, p_excluded_people, p_among, places)
        union all
        select * from people_by_words(weighed, p_filters, p_excluded_people, p_among, places)
      ) f group by 1 order by min(f.place), 1 offset 0
    ) c
    where p_excluded_people is not null or not is_ruled_out(c.person_id, p_asked, p_within, p_profiles, excluded_keywords, excluded_places)
    limit 4 * p_overfetch);
begin
  if candidates = '{}' then
    return;
  end if;

  return query
  with terms as materialized (
    select quote_literal(u.word)::tsquery as query, u.weight / sum(u.weight) over () as share, 0::bigint as should
    from unnest((weighed).words, (weighed).weights) u (word, weight)
    union all
    select any_phrase(array[s.term]), 0, 1::bigint << (s.number - 1)::int
    from unnest(p_should_terms[:max_should_terms]) with ordinality s (term, number)
  ), cards as materialized (
    select c.* from cards_of_people(candidates, p_filters, p_asked) c
  ), texts as (
    -- ts_delete of nothing unpacks a text once, instead of for each word
    select c.person_id, c.card_id, null as child_id, c.time_overlaps, c.time_covered, c.location_matches, c.text_search,
      -- + 0: without statistics the planner would use the vector index for the minimum, which only finds the nearest few
      (select min((e.embedding <=> p_embedding) + 0) from experience_card_embeddings e where e.record_id = c.card_id) as distance
    from cards c
    union all
    select c.person_id, c.card_id, k.id, c.time_overlaps, c.time_covered, c.location_matches, ts_delete(k.text_search, ''::text),
      (select min((e.embedding <=> p_embedding) + 0) from experience_card_child_embeddings e where e.record_id = k.id)
    from cards c join experience_card_children k on k.card_id = c.card_id
    offset 0
  ), matched as (
    select t.person_id, t.card_id, t.child_id, t.time_overlaps, t.time_covered, t.location_matches, coalesce(h.share, 0) as share, h.shoulds,
      case when h.share > 0 then ts_rank_cd(t.text_search, any_word)::float8 else 0 end as rank,
      -- a zero vector has no distance to anything
      coalesce(nullif(t.distance, 'NaN'),
        case when h.share > 0 or h.shoulds > 0 or asks_for_something then 1 - coalesce(h.share, 0) / 2 end) as away
    from texts t
    cross join lateral (
      select sum(term.share) as share, bit_or(term.should) as shoulds from terms term where t.text_search @@ term.query
    ) h
    offset 0
  ), ranked as (
    select m.*, row_number() over (partition by m.person_id, m.child_id is null order by m.away, m.card_id, m.child_id) as place,
      max(m.rank) over (partition by m.person_id) as text_score,
      bit_or(m.shoulds) over (partition by m.person_id) as shoulds_held
    from matched m
  )
  select h.person_id, h.card_id, h.child_id, 1 / (1 + greatest(h.away, 0)), h.time_overlaps, h.time_covered, h.location_matches,
    h.text_score, coalesce(bit_count(h.shoulds_held::bit(64)), 0)::int
  from ranked h
  where h.place <= p_top_k and h.away is not null
  order by h.person_id, h.away, h.card_id, h.child_id;
end
$$;

revoke execute on function find_people(halfvec, text, text[], card_filters, card_filters, text[], card_filters, boolean, text[], int, int) from public;
grant execute on function find_people(halfvec, text, text[], card_filters, card_filters, text[], card_filters, boolean, text[], int, int) to quarry_serving;
