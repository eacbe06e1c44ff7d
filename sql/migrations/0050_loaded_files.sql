-- Files that were loaded into tables which they made, by a digest of their rows: the same one is recognised when it comes again.
create table loaded_files (
  table_schema text not null,
  table_name text not null,
  digest bytea not null,
  name text not null,
  rows bigint not null,
  loaded_at timestamptz not null default now(),
  primary key (table_schema, table_name, digest)
);
