-- How many rows of a table meet a condition, which an index tells: exact up to p_limit, and p_limit + 1 for any more. The condition is
-- over a row `t` of the table, as SQL, made by a function, never taken from a caller's text. Where many rows are expected to meet it, as
-- one of many words, p_many, the table may be read to the limit instead.
create or replace function count_matches(p_table regclass, p_condition text, p_limit int, p_many boolean default false) returns bigint
language plpgsql stable
set enable_seqscan = off  -- what a text holds is dearer to look for row by row than the planner knows
as $$
declare
  counted bigint;
begin
  -- for this call only: the function's own setting is restored behind it
  perform set_config('enable_seqscan', p_many::text, true);
  execute format('select count(*) from (select from %s t where %s limit $1 + 1) t', p_table, p_condition) into counted using p_limit;
  return counted;
end
$$;
