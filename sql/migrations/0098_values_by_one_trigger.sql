-- One trigger function counts the values that a statement changes, in all searched tables: count_written_values. Before, each table had a
-- function of its own, which repeated its values for each operation. <table>_values.sql says which triggers a table needs.

do $$
declare
  old record;
begin
  for old in
    select t.tgname, t.tgrelid::regclass as written, p.oid::regprocedure as counts
    from pg_trigger t join pg_proc p on p.oid = t.tgfoid
    where p.pronamespace = current_schema()::regnamespace and p.proname like '%\_written' and t.tgname like '%\_values\_%'
  loop
    execute format('drop trigger %I on %s', old.tgname, old.written);
  end loop;
end $$;
drop function keep_values_counted(text, text, text, text);

-- Sees to it that operations on p_written count the values of p_searched: after each statement, or before each row ('delete each row').
-- p_arguments: those of count_written_values after the searched table. A trigger with the same arguments is left: making it anew would
-- wait for the table's writers.
create function keep_values_counted(p_searched text, p_written text, p_operations text[], variadic p_arguments text[]) returns void
language plpgsql
as $$
declare
  arguments constant text[] := p_searched || p_arguments;
  named text;
  operation text;
  is_by_row boolean;
  kept bytea;
begin
  foreach operation in array p_operations loop
    is_by_row := operation like '% each row';
    operation := split_part(operation, ' ', 1);
    named := format('%s_values_%s', p_searched, operation);
    select t.tgargs into kept from pg_trigger t where t.tgname = named and t.tgrelid = p_written::regclass;
    continue when kept = (
      select string_agg(convert_to(a.argument, 'UTF8') || '\x00', '' order by a.place) from unnest(arguments) with ordinality a (argument, place));
    if kept is not null then
      execute format('drop trigger %I on %I', named, p_written);
    end if;
    execute format('create trigger %I %s %s on %I %s for each %s execute function count_written_values(%s)',
      named, case when is_by_row then 'before' else 'after' end, operation, p_written,
      case when not is_by_row and operation <> 'truncate' then concat('referencing',
        case when operation <> 'insert' then ' old table as old_rows' end, case when operation <> 'delete' then ' new table as new_rows' end) end,
      case when is_by_row then 'row' else 'statement' end,
      (select string_agg(quote_literal(a.argument), ', ' order by a.place) from unnest(arguments) with ordinality a (argument, place)));
  end loop;
end
$$;
