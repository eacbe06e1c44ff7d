-- A tsquery for a text that holds any of `p_phrases`, each as a phrase; empty where they have no words.
create or replace function any_phrase(p_phrases text[]) returns tsquery
language sql immutable parallel safe
as $$
  select coalesce(string_agg('(' || q.phrase::text || ')', ' | '), '')::tsquery
  from unnest(p_phrases) u (text), phraseto_tsquery('english', searchable_text(u.text)) q (phrase)
  where numnode(q.phrase) > 0
$$;
