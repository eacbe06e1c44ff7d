-- Who embeds what at the moment: a claim is a lease on a row, renewed while the model works. Unlogged: after a crash nobody embeds.
create unlogged table embedding_claims (
  table_name text not null,
  record_id text not null,
  claim uuid not null,
  claimed_until timestamptz not null,
  primary key (table_name, record_id)
);

-- When nothing of a table waited to be embedded, or when somebody first looked: what waits now has not waited longer.
create table embedding_progress (
  table_name text primary key,
  completed_at timestamptz not null
);
