-- For each of the wider filters, how many people it lets through that p_filters does not, without p_excluded_people. A wider
-- filter lets through whom p_filters lets through.
--
-- One wider filter and p_filters are counted each by itself, with whatever index serves it: dropping the only constraint leaves
-- everyone. Several are counted in one pass over the cards that any of them lets through.
create or replace function count_people(p_filters card_filters, p_wider card_filters[], p_excluded_people text[]) returns bigint[]
language plpgsql stable
security definer set search_path from current  -- whole people are compared, of whom who serves may not read contacts
as $$
declare
  left_out constant text := case when p_excluded_people <> '{}' then ' and c.person_id not in (select unnest($1))' else '' end;
  cards constant text := 'experience_cards c left join people p on p.id = c.person_id';
  people constant text :=
    'select count(*) from (select from ' || cards || ' where card_matches(c, p, %L)' || left_out || ' group by c.person_id) person';
  additional bigint[];
begin
  if cardinality(p_wider) = 1 then
    execute format('select array[(' || people || ') - (' || people || ')]', p_wider[1], p_filters)
      into additional using p_excluded_people;
    return additional;
  end if;
  execute (
    select format('select array[%s] from (select bool_or(card_matches(c, p, %L)) as found, %s from ' || cards
        || ' where (%s)' || left_out || ' group by c.person_id) person where person.found is not true',
      string_agg(format('count(*) filter (where person.found_by_%s)', w.number), ', ' order by w.number),
      p_filters,
      string_agg(format('bool_or(card_matches(c, p, %L)) as found_by_%s', p_wider[w.number], w.number), ', ' order by w.number),
      string_agg(format('card_matches(c, p, %L)', p_wider[w.number]), ' or ' order by w.number))
    from generate_subscripts(p_wider, 1) w (number)
  ) into additional using p_excluded_people;
  return additional;
end
$$;

revoke execute on function count_people(card_filters, card_filters[], text[]) from public;
grant execute on function count_people(card_filters, card_filters[], text[]) to quarry_serving;
