-- Counts the values of a searched table anew, removes those that no row has, and adds those that no write has added: rows that were
-- there before, and what changed in related rows. How many values there are.
create or replace function refresh_facet_values(p_table text) returns int
language plpgsql
as $$
declare
  total int;
begin
  perform pg_advisory_xact_lock(hashtextextended('facet_values ' || p_table, 0));
  delete from facet_values f using (
    select array_agg(d.ctid order by d.ctid) as places from facet_values d
    where d.table_name = p_table group by d.facet, d.scope, d.value having count(*) > 1
  ) twice
  where f.ctid = any(twice.places[2:]);
  execute format(
    'with counted as materialized (
       select v.facet, v.scope, v.value, count(*)::int as row_count from %I(null) v group by v.facet, v.scope, v.value
     ), gone as (
       delete from facet_values f where f.table_name = $1
         and not exists (select from counted c where c.facet = f.facet and c.scope = f.scope and c.value = f.value)
     ), changed as (
       update facet_values f set row_count = c.row_count from counted c
       where f.table_name = $1 and f.facet = c.facet and f.scope = c.scope and f.value = c.value and f.row_count <> c.row_count
     )
     insert into facet_values (table_name, facet, scope, value, row_count)
     select $1, c.facet, c.scope, c.value, c.row_count from counted c
     where not exists (select from facet_values f
       where f.table_name = $1 and f.facet = c.facet and f.scope = c.scope and f.value = c.value)', p_table || '_values')
  using p_table;

  delete from facet_words w using (
    select array_agg(d.ctid order by d.ctid) as places from facet_words d
    where d.table_name = p_table group by d.stem having count(*) > 1
  ) twice
  where w.ctid = any(twice.places[2:]);
  with counted as materialized (
    select s.stem, count(*)::int as value_count from facet_values f, unnest(f.stems) s (stem)
    where f.table_name = p_table group by s.stem
  ), gone as (
    delete from facet_words w where w.table_name = p_table and not exists (select from counted c where c.stem = w.stem)
  ), changed as (
    update facet_words w set value_count = c.value_count from counted c
    where w.table_name = p_table and w.stem = c.stem and w.value_count <> c.value_count
  )
  insert into facet_words (table_name, stem, value_count)
  select p_table, c.stem, c.value_count from counted c
  where not exists (select from facet_words w where w.table_name = p_table and w.stem = c.stem);

  select count(*) into total from facet_values f where f.table_name = p_table;
  return total;
end
$$;
