-- A tsquery for an experience (experience_cards.role_search) that is all of `p_roles`, each by all words of any of its names ("backend
-- engineer" is an engineer whose field is the backend); null, which matches nothing, if one has no words. Each word and role appears once:
-- repeated ones would be considered rarer.
create or replace function all_roles(p_roles text[]) returns tsquery
language sql immutable parallel safe
as $$
  select case when count(*) = count(r.names) then string_agg(distinct '(' || r.names || ')', ' & ')::tsquery end
  from unnest(p_roles) u (role), lateral (
    select string_agg(distinct '(' || q.words::text || ')', ' | ')
    from unnest(string_to_array(u.role, '|')) n (name), index_query(plainto_tsquery('english', searchable_text(n.name))) q (words)
    where numnode(q.words) > 0
  ) r (names)
$$;
