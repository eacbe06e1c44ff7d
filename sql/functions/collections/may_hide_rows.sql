-- Whether row-level security may hide rows of a table or view from the caller. A view reads its tables with the rights of its owner, or of
-- its reader if it is a security_invoker. Policies are not read: one that allows everything counts as well.
create or replace function may_hide_rows(p_relation regclass) returns boolean
language sql stable
as $$
  with recursive relations as (
    select p_relation::oid as oid, a.oid as reader from pg_roles a where a.rolname = current_user
    union
    select d.refobjid, case when c.reloptions::text ~ '\msecurity_invoker=(true|on|yes|1)\M' then r.reader else c.relowner end
    from relations r join pg_class c on c.oid = r.oid and c.relkind = 'v'
    join pg_rewrite w on w.ev_class = r.oid join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid
    where d.refclassid = 'pg_class'::regclass and d.refobjid <> r.oid
  )
  select exists (
    select from relations r join pg_class c on c.oid = r.oid join pg_roles a on a.oid = r.reader
    where c.relrowsecurity and not a.rolsuper and not a.rolbypassrls
      and (c.relforcerowsecurity or not pg_has_role(r.reader, c.relowner, 'usage')))
$$;
