-- A tsquery for an experience (experience_cards.role_search) that is all of `p_roles`, each by any of its names; null, which nothing
-- matches, where one has no words.
create or replace function all_roles(p_roles text[]) returns tsquery
language sql immutable parallel safe
as $$
  select case when count(*) = count(q.names) then string_agg('(' || q.names::text || ')', ' & ')::tsquery end
  from unnest(p_roles) u (role), any_phrase(string_to_array(u.role, '|')) q (names)
$$;
