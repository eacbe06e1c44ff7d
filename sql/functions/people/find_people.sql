-- People near a query, with their evidence: of each candidate (nearest_people) the p_top_k nearest cards and the p_top_k nearest
-- children that the filters let through. `similarity` is 1 / (1 + cosine distance). A hit carries what the card is to what was
-- asked for, p_asked, which p_filters may be a relaxed form of.
--
-- `text_score` and `should_hits` are the person's, over all cards and children that the filters let through. The score of a text is
-- the share of the query's words that it holds, each weighed by its idf (query_words), and, where it holds all, r / (1 + r) more,
-- r being ts_rank_cd; a person's is that of the best text. should_hits counts the should terms that any of the texts holds; of more
-- than 63 the first 63.
--
-- The one large statement is kept with its plan: it takes rows by key only, whatever the filters are, and planning it would cost as
-- much as running it.
create or replace function find_people(
  p_embedding halfvec, p_query text, p_should_terms text[], p_filters card_filters, p_asked card_filters, p_overfetch int, p_top_k int
) returns table (
  person_id text, card_id text, child_id text, similarity double precision,
  time_overlaps boolean, time_covered boolean, location_matches boolean, text_score double precision, should_hits int
)
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  max_words constant int := 8;
  query constant text := searchable_text(p_query);
  all_words constant tsquery := parsed_query(query);
  left_out constant text[] := case when p_filters.excluded_keywords is null then '{}' else excluded_cards(p_filters) end;
  people_left_out constant text[] := case when p_filters.excluded_companies is null then '{}' else excluded_people(p_filters) end;
  candidates constant text[] := nearest_people(p_embedding, p_filters, people_left_out, left_out, p_overfetch);
begin
  if candidates = '{}' then
    return;
  end if;
  return query
  with terms as materialized (
    select quote_literal(u.word)::tsquery as query, u.weight / sum(u.weight) over () as share, 0::bigint as should
    from query_words('experience_cards', query, max_words, 1) w, unnest(w.words, w.weights) u (word, weight)
    union all
    select any_phrase(array[s.term]), 0, 1::bigint << (s.number - 1)::int
    from unnest(p_should_terms[:63]) with ordinality s (term, number)
  ), cards as materialized (
    select c.id, c.person_id, c.text_search, card_time_overlaps(c, p_asked) as time_overlaps,
      card_time_covered(c, p_asked) as time_covered, coalesce(card_location_matches(c, p_asked), false) as location_matches
    from experience_cards c join people p on p.id = c.person_id
    where c.person_id = any(candidates) and card_matches(c, p, p_filters) and c.id <> all(left_out)
  ), texts as (
    select c.person_id, c.id as card_id, null as child_id, c.time_overlaps, c.time_covered, c.location_matches, c.text_search,
      -- + 0: without statistics the planner would take the minimum off the vector index, which knows the nearest few only
      (select min((e.embedding <=> p_embedding) + 0) from experience_card_embeddings e where e.record_id = c.id) as distance
    from cards c
    union all
    select c.person_id, c.id, k.id, c.time_overlaps, c.time_covered, c.location_matches, k.text_search,
      (select min((e.embedding <=> p_embedding) + 0) from experience_card_child_embeddings e where e.record_id = k.id)
    from cards c join experience_card_children k on k.card_id = c.id
  ), ranked as (
    select t.*, row_number() over (partition by t.person_id, t.child_id is null order by t.distance, t.card_id, t.child_id) as place,
      max(coalesce(h.share, 0) + coalesce(r.rank / (1 + r.rank), 0)) over (partition by t.person_id) as text_score,
      bit_or(h.shoulds) over (partition by t.person_id) as shoulds
    from texts t
    cross join lateral (
      select sum(term.share) as share, bit_or(term.should) as shoulds from terms term where t.text_search @@ term.query
    ) h
    cross join lateral (
      select case when t.text_search @@ all_words then ts_rank_cd(t.text_search, all_words) end as rank
    ) r
  )
  select h.person_id, h.card_id, h.child_id, 1 / (1 + greatest(h.distance, 0)), h.time_overlaps, h.time_covered, h.location_matches,
    h.text_score, coalesce(bit_count(h.shoulds::bit(64)), 0)::int
  from ranked h
  -- a vector of zeros is at no distance from anything
  where h.place <= p_top_k and h.distance < 'NaN'
  order by h.person_id, h.distance, h.card_id, h.child_id;
end
$$;
