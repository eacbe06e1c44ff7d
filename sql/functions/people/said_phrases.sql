-- Like any_phrase, but for words as written except for singular and plural (said_word): for texts that contain a phrase by its stems, which
-- an index finds.
create or replace function said_phrases(p_phrases text[]) returns tsquery
language sql immutable parallel safe
as $$
  select string_agg('(' || q.phrase || ')', ' | ')::tsquery
  from unnest(p_phrases) u (text), lateral (
    select string_agg(said_word(l.lexeme), ' <-> ' order by p.place) as phrase
    from unnest(to_tsvector('simple', searchable_text(u.text))) l, unnest(l.positions) p (place)
  ) q
  where q.phrase is not null
$$;
