-- The tenants of an installation. A tenant is a value of the claim that TENANT_CLAIM names; its data is in a schema of its own, with
-- all of Quarry's tables. In such a schema this table is empty. `release` is what its tables and functions were last brought up to.
create table tenants (
  name text primary key check (name <> ''),
  schema_name text not null unique,
  release text,
  problem text,
  added_at timestamptz not null default now()
);
revoke insert, update, delete, truncate on tenants from quarry_loading;
