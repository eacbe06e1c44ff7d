-- The words (lexemes) in an actor's entities that are spelled like those of p_words that are in none of them. Only words with the same
-- beginning are compared, so that the index finds them, and only in 300 entities per word. weigh_query would also use words that only other
-- users have written.
create or replace function onto_words_like(p_actor_id text, p_words text[]) returns text[]
language sql stable
as $$
  with unknown as materialized (
    select w.word, left(w.word, 3) as beginning
    from unnest(p_words) w (word)
    where length(w.word) >= 4
      and not exists (select from onto_search_entries e where e.created_by = p_actor_id and e.search_vector @@ quote_literal(w.word)::tsquery)
  )
  select coalesce(array_agg(distinct l.word), '{}')
  from unknown u,
    lateral (
      select e.search_vector from onto_search_entries e
      where e.created_by = p_actor_id and e.search_vector @@ (quote_literal(u.beginning) || ':*')::tsquery
      limit 300
    ) e,
    unnest(tsvector_to_array(e.search_vector)) l (word)
  where starts_with(l.word, u.beginning) and similarity(l.word, u.word) >= 0.4
$$;
