-- Changes the number of rows of a searched table with each of these values. Each value is given once. Existing values are looked up one by
-- one: those plans are cached, whereas a join would be planned with the statistics of a smaller table. A row locked by another transaction
-- is skipped, and one changed in the meantime is not found: the change then gets its own row, as in a transaction that must not see later
-- changes of others.
create or replace function change_facet_values(p_table text, p_facets text[], p_scopes text[], p_values text[], p_changes int[])
returns void
language plpgsql
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  if p_facets is null then
    return;
  end if;
  with given as materialized (
    select g.facet, g.scope, g.value, g.change, g.number, h.place, h.row_count + g.change as row_count
    from unnest(p_facets, p_scopes, p_values, p_changes) with ordinality g (facet, scope, value, change, number)
    left join lateral (
      select f.ctid as place, f.row_count from facet_values f
      where f.table_name = p_table and f.facet = g.facet and f.value = g.value and f.scope = g.scope
        and current_setting('transaction_isolation') = 'read committed'
      limit 1 for update skip locked
    ) h on true
  ), gone as (
    delete from facet_values f using given g where f.ctid = g.place and g.row_count = 0 returning g.number, f.stems
  ), changed as (
    update facet_values f set row_count = g.row_count from given g where f.ctid = g.place and g.row_count <> 0 returning g.number
  ), added as (
    insert into facet_values (table_name, facet, scope, value, row_count)
    select p_table, g.facet, g.scope, g.value, g.change from given g
    where (g.place is null or g.number not in (select number from gone union all select number from changed))
      and folded_words(g.value) is not null
    returning stems
  )
  select array_agg(w.stem), array_agg(w.change) into p_values, p_changes
  from (
    select s.stem, sum(s.change)::int as change
    from (select unnest(stems), 1 from added union all select unnest(stems), -1 from gone) s (stem, change)
    group by s.stem having sum(s.change) <> 0
  ) w;
  perform change_facet_words(p_table, p_values, p_changes);
end
$$;
