-- Whether the caller sees every row of a table or view. A policy may hide rows silently, and hidden rows would be considered deleted. So
-- either no policy applies, or one allows everything and none restricts it. A view with its reader's rights is like its tables.
create or replace function sees_all_rows(p_relation regclass) returns boolean
language sql stable
as $$
  with recursive relations as (
    select p_relation::oid as oid
    union
    select d.refobjid
    from relations r join pg_class c on c.oid = r.oid and c.relkind = 'v' and c.reloptions::text ~ '\msecurity_invoker=(true|on|yes|1)\M'
    join pg_rewrite w on w.ev_class = r.oid join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid
    where d.refclassid = 'pg_class'::regclass and d.refobjid <> r.oid
  ), applying as (
    select p.polrelid, p.polpermissive, pg_get_expr(p.polqual, p.polrelid) = 'true' as lets_all_through
    from pg_policy p
    where p.polcmd in ('*', 'r') and exists (
      select from unnest(p.polroles) r (role) where r.role = 0 or pg_has_role(current_user, r.role, 'usage'))
  )
  select bool_and(not row_security_active(r.oid) or (
    exists (select from applying a where a.polrelid = r.oid and a.polpermissive and a.lets_all_through)
    and not exists (select from applying a where a.polrelid = r.oid and not a.polpermissive)))
  from relations r
$$;
