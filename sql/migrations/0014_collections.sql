-- Tables of the database's owner that are searched where they are: what was declared of each, the keys of rows that changed, and
-- what words and meaning are found by. A collection has a partition of its own of each, with indexes and statistics of its own.
create table collections (
  id smallint primary key generated always as identity,
  name text not null unique,
  source regclass not null,  -- outlives a new name
  columns json not null,  -- of each column that is used, its number: tells a column renamed from one dropped
  declaration json not null,  -- in the order of its file
  applied_at timestamptz not null default now(),
  reconciled_at timestamptz,
  polled_to timestamptz,
  problem text  -- why it is not kept in step
);

-- Keys that writers note and the refresher takes; a null key asks for the whole collection to be compared. Nothing is unique, or writers
-- would wait for the refresher; nothing is indexed, since each index costs them more than a scan costs the refresher.
create table collection_changes (
  collection smallint not null,
  key text,
  at timestamptz not null default now(),
  problem text
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 10000);

create table collection_rows (
  collection smallint not null,
  id text not null,
  scope text,
  text_search tsvector not null,
  row_hash text not null,
  content_hash text,  -- null: nothing of it has meaning to be found by
  embedded_hash text,
  refused_hash text,
  refusals smallint not null default 0,
  primary key (id, collection)
) partition by list (collection);
create index collection_rows_text_search on collection_rows using gin (text_search) with (fastupdate = off);
create index collection_rows_scope on collection_rows (scope) where scope is not null;
create index collection_rows_not_embedded on collection_rows (id) where embedded_hash is distinct from content_hash;

create table collection_windows (
  collection smallint not null,
  record_id text not null,
  window_number smallint not null,
  embedding halfvec({{embedding_dimensions}}) not null,
  primary key (record_id, window_number, collection)
) partition by list (collection);
alter table collection_windows alter column embedding set storage plain;
create index collection_windows_hnsw on collection_windows using hnsw (embedding halfvec_cosine_ops) with (ef_construction = 128);
