-- Locks the people that still exist until the end of the transaction, and returns them. Locking a row takes the right to change it, which
-- the serving role lacks, so the function has its owner's rights; its names are bound when it is created.
create or replace function hold_people(p_ids text[]) returns setof text
language sql volatile security definer
begin atomic
  select id from people where id = any(p_ids) order by id for key share;
end;

revoke execute on function hold_people(text[]) from public;
grant execute on function hold_people(text[]) to quarry_serving, quarry_loading;
