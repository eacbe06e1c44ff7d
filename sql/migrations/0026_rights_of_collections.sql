-- What keeps collections in step has the rights of who applied them: for who serves and who loads, as it is made from now on, and not
-- for whoever may use the schema.
do $$
declare
  made regprocedure;
begin
  for made in
    select p.oid from pg_proc p
    where p.prosecdef and p.pronamespace = current_schema()::regnamespace
      and p.proname ~ '^((note_changes|refresh_rows|queue_differences)_[0-9]+|rows_[0-9]+_values)$'
  loop
    execute format('revoke execute on function %s from public', made);
    execute format('grant execute on function %s to quarry_serving, quarry_loading', made);
  end loop;
end $$;
