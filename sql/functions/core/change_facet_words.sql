-- Changes the number of values of a searched table that contain each of these stems, as change_facet_values does. Each stem is given once.
create or replace function change_facet_words(p_table text, p_stems text[], p_changes int[]) returns void
language plpgsql
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  if p_stems is null then
    return;
  end if;
  with given as materialized (
    select g.stem, g.change, g.number, h.place, h.value_count + g.change as value_count
    from unnest(p_stems, p_changes) with ordinality g (stem, change, number)
    left join lateral (
      select w.ctid as place, w.value_count from facet_words w
      where w.stem = g.stem and w.table_name = p_table and current_setting('transaction_isolation') = 'read committed'
      limit 1 for update skip locked
    ) h on true
  ), gone as (
    delete from facet_words w using given g where w.ctid = g.place and g.value_count = 0 returning g.number
  ), changed as (
    update facet_words w set value_count = g.value_count from given g where w.ctid = g.place and g.value_count <> 0 returning g.number
  )
  insert into facet_words (table_name, stem, value_count)
  select p_table, g.stem, g.change from given g
  where g.place is null or g.number not in (select number from gone union all select number from changed);
end
$$;
