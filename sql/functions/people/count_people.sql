-- For each of the wider filters, the number of people that pass it but not p_filters, without p_excluded_people and, unless it is null, only
-- of p_among. Everybody who passes p_filters passes a wider filter.
--
-- Each filter is counted by itself, with the index that serves it, or all in one pass over the cards that pass any of them, whichever the
-- planner expects to read less. Volatile, since Postgres allows explain in no other function.
create or replace function count_people(p_filters card_filters, p_wider card_filters[], p_excluded_people text[], p_among text[]) returns bigint[]
language plpgsql volatile
security definer set search_path from current  -- reads whole people, whose contacts the serving role may not read
set random_page_cost = 1.1  -- pages are in memory
as $$
declare
  left_out constant text := case when p_excluded_people <> '{}' then ' and c.person_id not in (select unnest($1))' else '' end
    || case when p_among is not null then ' and c.person_id in (select unnest($2))' else '' end;
  cards constant text := 'experience_cards c left join people p on p.id = c.person_id';
  people constant text :=
    'select count(*) from (select from ' || cards || ' where card_matches(c, p, %L)' || left_out || ' group by c.person_id) person';
  apart constant text := (
    select format('select array[%s] from (' || people || ') found (people)',
      string_agg(format('(' || people || ') - found.people', p_wider[w.number]), ', ' order by w.number), p_filters)
    from generate_subscripts(p_wider, 1) w (number));
  together constant text := (
    select format('select array[%s] from (select bool_or(card_matches(c, p, %L)) as found, %s from ' || cards
        || ' where (%s)' || left_out || ' group by c.person_id) person where person.found is not true',
      string_agg(format('count(*) filter (where person.found_by_%s)', w.number), ', ' order by w.number),
      p_filters,
      string_agg(format('bool_or(card_matches(c, p, %L)) as found_by_%s', p_wider[w.number], w.number), ', ' order by w.number),
      string_agg(format('card_matches(c, p, %L)', p_wider[w.number]), ' or ' order by w.number))
    from generate_subscripts(p_wider, 1) w (number));
  apart_plan json;
  together_plan json;
  additional bigint[];
begin
  execute 'explain (format json) ' || apart into apart_plan using p_excluded_people, p_among;
  execute 'explain (format json) ' || together into together_plan using p_excluded_people, p_among;
  execute case when (apart_plan -> 0 -> 'Plan' ->> 'Total Cost')::float8 <= (together_plan -> 0 -> 'Plan' ->> 'Total Cost')::float8
    then apart else together end into additional using p_excluded_people, p_among;
  return additional;
end
$$;

revoke execute on function count_people(card_filters, card_filters[], text[], text[]) from public;
grant execute on function count_people(card_filters, card_filters[], text[], text[]) to quarry_serving;
