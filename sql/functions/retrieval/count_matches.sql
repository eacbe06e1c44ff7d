-- How many rows of a table meet a condition that an index serves: exact up to p_limit, and p_limit + 1 for any more. The condition is SQL
-- on a row `t` of the table, built by a function, never taken from a caller's text.
create or replace function count_matches(p_table regclass, p_condition text, p_limit int) returns bigint
language plpgsql stable
set enable_seqscan = off  -- the planner underestimates the cost of searching texts row by row
as $$
declare
  counted bigint;
begin
  execute format('select count(*) from (select from %s t where %s limit $1 + 1) t', p_table, p_condition) into counted using p_limit;
  return counted;
end
$$;
