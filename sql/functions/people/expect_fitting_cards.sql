-- How many cards the planner expects the filters to let through. Volatile, since Postgres lets no other function explain.
create or replace function expect_fitting_cards(p_filters card_filters, p_excluded_people text[], p_among text[])
returns double precision
language plpgsql volatile
as $$
declare
  plan json;
begin
  execute 'explain (format json) select from experience_cards c left join people p on p.id = c.person_id'
    ' where card_matches(c, p, $1) and ($2 = ''{}'' or c.person_id not in (select unnest($2)))'
    ' and ($3 is null or c.person_id = any($3))'
    into plan using p_filters, p_excluded_people, p_among;
  return (plan -> 0 -> 'Plan' ->> 'Plan Rows')::double precision;
end
$$;
