-- Those of the people who are still there, and stay until the end of the transaction. To hold a row takes the right to change it,
-- which whoever serves lacks, so it has its owner's rights; its names are bound when it is created.
create or replace function hold_people(p_ids text[]) returns setof text
language sql volatile security definer
begin atomic
  select id from people where id = any(p_ids) order by id for key share;
end;

revoke execute on function hold_people(text[]) from public;
grant execute on function hold_people(text[]) to quarry_serving, quarry_loading;
