-- A tsquery for places (experience_cards.places) that contain any of `p_places`; null, which matches nothing, if these have no words.
create or replace function any_place(p_places text[]) returns tsquery
language sql immutable parallel safe
as $$
  select string_agg('(' || q.place::text || ')', ' | ')::tsquery
  from unnest(p_places) u (text), phraseto_tsquery('simple', regexp_replace(u.text, '\W+', ' ', 'g')) q (place)
  where numnode(q.place) > 0
$$;
