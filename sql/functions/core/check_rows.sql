-- Fails if this transaction has added rows and there are now more than p_max, counting p_more that are yet to be read from their own
-- tables. What others add at the same time is waited for. 0: any number.
create or replace function check_rows(p_max bigint, p_more bigint default 0) returns void
language plpgsql
as $$
declare
  added bigint;
  total bigint;
begin
  select p_more + coalesce(sum(pg_stat_get_xact_tuples_inserted(t) - pg_stat_get_xact_tuples_deleted(t)), 0) into added
  from rows_counted() t;
  if p_max = 0 or added <= 0 then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('rows ' || current_schema(), 0));
  total := p_more + rows_held();
  if total > p_max then
    raise exception 'This tenant may hold % rows and would hold %: delete rows, or ask the operator for more (quarry tenant quota).',
      to_char(p_max, 'FM999,999,999,999,999'), to_char(total, 'FM999,999,999,999,999') using errcode = 'QT001';
  end if;
end $$;
