-- The tables whose rows count for a tenant's quota: those that files are loaded into, which have a text id and are not written while
-- serving, and those that hold the rows of collections.
create or replace function rows_counted() returns setof regclass
language sql stable
as $$
  select c.oid::regclass
  from pg_class c
  join pg_index i on i.indrelid = c.oid and i.indisprimary and i.indnkeyatts = 1
  join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0] and a.attname = 'id' and a.atttypid = 'text'::regtype
  where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
    and not has_table_privilege('quarry_serving', c.oid, 'insert')
  union all
  select h.inhrelid::regclass from pg_inherits h where h.inhparent = 'collection_rows'::regclass
$$;
