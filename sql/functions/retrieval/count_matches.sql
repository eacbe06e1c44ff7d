-- How many rows of a table meet a condition, which an index tells: exact up to p_limit, and p_limit + 1 for any more. The condition is
-- over a row `t` of the table, as SQL, made by a function, never taken from a caller's text.
create or replace function count_matches(p_table regclass, p_condition text, p_limit int) returns bigint
language plpgsql stable
set enable_seqscan = off  -- what a text holds is dearer to look for row by row than the planner knows
as $$
declare
  counted bigint;
begin
  execute format('select count(*) from (select from %s t where %s limit $1 + 1) t', p_table, p_condition) into counted using p_limit;
  return counted;
end
$$;
