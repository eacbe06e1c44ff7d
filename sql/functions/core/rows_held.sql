-- How many rows count for a tenant's quota.
create or replace function rows_held() returns bigint
language plpgsql stable
as $$
declare
  held bigint;
begin
  execute 'select ' || (select string_agg(format('(select count(*) from %s)', t), ' + ') from rows_counted() t) into held;
  return held;
end $$;
