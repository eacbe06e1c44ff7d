-- How many cards the planner expects a search to look at (searched_cards). Volatile, since Postgres lets no other function explain.
create or replace function expect_fitting_cards(p_filters card_filters, p_excluded_people text[], p_among text[])
returns double precision
language plpgsql volatile
as $$
declare
  plan json;
begin
  execute 'explain (format json) select from searched_cards($1, $2, $3)' into plan using p_filters, p_excluded_people, p_among;
  return (plan -> 0 -> 'Plan' ->> 'Plan Rows')::double precision;
end
$$;
