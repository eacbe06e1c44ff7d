-- Like all_roles, but for words as written except for singular and plural (said_word, card_says_roles).
create or replace function said_roles(p_roles text[]) returns tsquery
language sql immutable parallel safe
as $$
  select case when count(*) = count(r.names) then string_agg(distinct '(' || r.names || ')', ' & ')::tsquery end
  from unnest(p_roles) u (role), lateral (
    select string_agg(distinct '(' || n.words || ')', ' | ')
    from unnest(string_to_array(u.role, '|')) t (name), lateral (
      select string_agg(said_word(l.lexeme), ' & ') as words
      from unnest(to_tsvector('simple', searchable_text(t.name))) l
      where ts_lexize('english_stem', l.lexeme) <> '{}'
    ) n
  ) r (names)
$$;
