-- The values of the data are counted by the writes themselves: after each statement facet_values tells how many rows have a value, and
-- a value that no row has any more is gone. A value may stand in several rows, whose counts add up: a writer takes one that no other
-- holds, or adds its own, so that none waits; the refresh brings them together. facet_words counts the rows of facet_values alike.
-- What each table's triggers count follows from its facets: <table>_written, in sql/functions.

alter table facet_values set (fillfactor = 80);

do $$
declare
  old record;
begin
  for old in select tgname, tgrelid::regclass as written from pg_trigger where tgfoid = 'add_facet_values'::regproc loop
    execute format('drop trigger %I on %s', old.tgname, old.written);
  end loop;
end $$;
drop function add_facet_values();

-- Sees to it that p_searched || '_written' is called for an operation on a table, once a 'statement', or for 'each row' before it. A
-- trigger that is there is left: making it anew would wait for the table's writers.
create function keep_values_counted(p_searched text, p_written text, p_operation text, p_level text) returns void
language plpgsql
as $$
declare
  named constant text := format('%s_values_%s', p_searched, p_operation);
begin
  if exists (select from pg_trigger where tgname = named and tgrelid = p_written::regclass) then
    return;
  end if;
  execute format('create trigger %I %s %s on %I %s for each %s execute function %I()',
    named, case p_level when 'each row' then 'before' else 'after' end, p_operation, p_written,
    case when p_level = 'each row' or p_operation = 'truncate' then '' else concat('referencing',
      case when p_operation <> 'insert' then ' old table as old_rows' end, case when p_operation <> 'delete' then ' new table as new_rows' end) end,
    case p_level when 'each row' then 'row' else 'statement' end, p_searched || '_written');
end
$$;
