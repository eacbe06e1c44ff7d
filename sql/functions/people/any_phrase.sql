-- A tsquery for a text (text_search) that contains any of `p_phrases`; null, which matches nothing, if these have no words.
create or replace function any_phrase(p_phrases text[]) returns tsquery
language sql immutable parallel safe
as $$
  select string_agg('(' || q.phrase::text || ')', ' | ')::tsquery
  from unnest(p_phrases) u (text), phraseto_tsquery('english', searchable_text(u.text)) q (phrase)
  where numnode(q.phrase) > 0
$$;
