-- For each of the wider filters, how many people it lets through that p_filters does not, with the exclusions of p_filters. A
-- wider filter lets through whom p_filters lets through.
--
-- Only cards that one of the wider filters lets through are read. Two constraints that each leave few rows therefore make a
-- small count; a single one, dropped, leaves everybody to be counted.
create or replace function count_people(p_filters card_filters, p_wider card_filters[]) returns bigint[]
language plpgsql stable
as $$
declare
  additional bigint[];
begin
  execute (
    select format(
      'select array[%s] from ('
      '  select bool_or(card_matches(c, p, %L)) as found, %s'
      '  from experience_cards c join people p on p.id = c.person_id'
      '  where (%s) and c.person_id <> all($1) and c.id <> all($2)'
      '  group by c.person_id'
      ') person where person.found is not true',
      string_agg(format('count(*) filter (where person.found_by_%s)', w.number), ', ' order by w.number),
      p_filters,
      string_agg(format('bool_or(card_matches(c, p, %L)) as found_by_%s', p_wider[w.number], w.number), ', ' order by w.number),
      string_agg(format('card_matches(c, p, %L)', p_wider[w.number]), ' or ' order by w.number))
    from generate_subscripts(p_wider, 1) w (number)
  ) into additional using excluded_people(p_filters), excluded_cards(p_filters);
  return additional;
end
$$;
