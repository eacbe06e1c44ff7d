-- Recounts the values of a searched table, and merges values stored in several rows. This covers rows older than the search of the table,
-- changed facets, and simultaneous writes of a row and of one it belongs to. Returns the number of values. Writers are not blocked:
-- corrections are stored as differences, and locked rows are skipped.
create or replace function refresh_facet_values(p_table text) returns int
language plpgsql
as $$
declare
  places tid[];
  total int;
begin
  perform pg_advisory_xact_lock(hashtextextended('facet_values ' || p_table, 0));
  places := array(
    select f.ctid from facet_values f
    where f.table_name = p_table and (f.facet, f.scope, f.value) in (
      select d.facet, d.scope, d.value from facet_values d where d.table_name = p_table group by d.facet, d.scope, d.value having count(*) > 1)
    for update skip locked);
  with twice as (delete from facet_values f where f.ctid = any(places) returning f.*)
  insert into facet_values (table_name, facet, scope, value, row_count)
  select p_table, t.facet, t.scope, t.value, sum(t.row_count) from twice t group by t.facet, t.scope, t.value having sum(t.row_count) <> 0;

  places := array(
    select w.ctid from facet_words w
    where w.table_name = p_table and w.stem in (
      select d.stem from facet_words d where d.table_name = p_table group by d.stem having count(*) > 1)
    for update skip locked);
  with twice as (delete from facet_words w where w.ctid = any(places) returning w.*)
  insert into facet_words (table_name, stem, value_count)
  select p_table, t.stem, sum(t.value_count) from twice t group by t.stem having sum(t.value_count) <> 0;

  execute format(
    'select change_facet_values($1, array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change)) from (
       select w.facet, w.scope, w.value, sum(w.change)::int as change from (
         select v.* from %I() v
         union all select f.facet, f.scope, f.value, -f.row_count from facet_values f where f.table_name = $1
       ) w (facet, scope, value, change) group by w.facet, w.scope, w.value having sum(w.change) <> 0
     ) c', p_table || '_values')
  using p_table;
  perform change_facet_words(p_table, array_agg(c.stem), array_agg(c.change)) from (
    select w.stem, sum(w.change)::int as change from (
      select unnest(f.stems), 1 from facet_values f where f.table_name = p_table
      union all select k.stem, -k.value_count from facet_words k where k.table_name = p_table
    ) w (stem, change) group by w.stem having sum(w.change) <> 0
  ) c;

  select count(*) into total from facet_values f where f.table_name = p_table;
  return total;
end
$$;
