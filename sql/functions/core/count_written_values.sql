-- Counts what a statement changes in the values of a searched table: those of its rows after the statement, less those before. Both come
-- from the query of <searched>_values, in which the changed rows stand in the place of their table.
-- Arguments: the searched table; the columns of the written table that its values are made of; and if the written table is another one,
-- either the condition `on` which it is joined by, or the searched table's key and the written table's column with the key of its `owner`.
-- The statements are planned anew: a plan that was kept for a single row would compare each row with each when many are written.
create or replace function count_written_values() returns trigger
language plpgsql
as $$
declare
  searched constant text := tg_argv[0];
  columns constant text := tg_argv[1];
  written constant text := quote_ident(tg_table_name);
  -- the rows of the statement, after and before it; most updates change none of the columns
  new_rows constant text := case tg_op
    when 'INSERT' then format('select %s from new_rows', columns)
    when 'UPDATE' then format('select %1$s from new_rows except all select %1$s from old_rows', columns)
  end;
  old_rows constant text := case
    when tg_op = 'DELETE' and tg_level = 'ROW' then 'select ($1).*'
    when tg_op = 'DELETE' then format('select %s from old_rows', columns)
    when tg_op = 'UPDATE' then format('select %1$s from old_rows except all select %1$s from new_rows', columns)
  end;
  owners text;
  owned text;
  after text;
  before text;
begin
  if tg_op = 'TRUNCATE' then
    perform refresh_facet_values(searched);
    return null;
  elsif tg_table_name = searched then
    after := written || ' as (' || new_rows || ')';
    before := written || ' as (' || old_rows || ')';
  elsif tg_nargs = 3 then
    owners := format(', %1$I as (select t.* from %1$I t where exists (select from %2$s r where %3$s))', searched, written, tg_argv[2]);
    after := written || ' as (' || new_rows || ')' || owners;
    before := written || ' as (' || old_rows || ')' || owners;
  else  -- with all rows of the same owners
    owners := concat_ws(' union ', 'select w.' || tg_argv[3] || ' from (' || new_rows || ') w', 'select w.' || tg_argv[3] || ' from (' || old_rows || ') w');
    owned := format('select %s from %s b where b.%I in (%s)', columns, written, tg_argv[3], owners);
    owners := format(', %1$I as (select t.* from %1$I t where t.%2$I in (%3$s))', searched, tg_argv[2], owners);
    after := written || ' as (' || owned || ')' || owners;
    before := written || concat(' as (', owned, ' and not exists (select from (' || new_rows || ') w where w.id = b.id)',
      ' union all (' || old_rows || ')', ')') || owners;
  end if;
  -- $1 is the row that is deleted, in a trigger for each
  execute (
    select format('select change_facet_values(%L, array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change)) from (
        select w.facet, w.scope, w.value, sum(w.change)::int from (%s) w (facet, scope, value, change)
        group by w.facet, w.scope, w.value having sum(w.change) <> 0
      ) c (facet, scope, value, change)',
      searched, concat_ws(' union all ', '(with ' || after || p.prosrc || ')',
        'select b.facet, b.scope, b.value, -b.change from (with ' || before || p.prosrc || ') b (facet, scope, value, change)'))
    from pg_proc p where p.oid = (quote_ident(searched || '_values') || '()')::regprocedure)
  using old;
  return old;
end
$$;
