-- Which clauses each of these people meets with any visible card, and which texts a card, a child or the profile contains; in the given
-- order, clauses first. Planned for the given clauses: their values are then read once, not for each card.
create or replace function people_standings(p_people text[], p_clauses card_filters[], p_texts text[])
returns table (person_id text, met boolean[])
language plpgsql stable
security definer set search_path from current  -- reads whole people, whose contacts the serving role may not read
as $$
declare
  asked constant text[] :=
    array(select format('bool_or(card_matches(c, p, %L))', p_clauses[n.number]) from generate_subscripts(p_clauses, 1) n (number))
    || array(
      select format(
        'bool_or(c.text_search @@ %1$L or p.text_search @@ %1$L or exists (
           select from experience_card_children k where k.card_id = c.id and k.text_search @@ %1$L))',
        phraseto_tsquery('english', searchable_text(t.words)))
      from unnest(p_texts) with ordinality t (words, number) order by t.number);
begin
  return query execute format(
    'select c.person_id, array[%s]::boolean[] from experience_cards c join people p on p.id = c.person_id
     where c.person_id = any($1) and c.visible group by c.person_id', array_to_string(asked, ', '))
    using p_people;
end
$$;

revoke execute on function people_standings(text[], card_filters[], text[]) from public;
grant execute on function people_standings(text[], card_filters[], text[]) to quarry_serving;
