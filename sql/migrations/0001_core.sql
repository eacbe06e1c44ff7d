-- What every domain shares: text helpers for generated columns, the embedding model of this database, the run log, rate limits.

create extension if not exists vector;
create extension if not exists pg_trgm;

do $$
begin
  if (select string_to_array(regexp_replace(extversion, '[^0-9.].*$', ''), '.')::int[] from pg_extension where extname = 'vector') < array[0, 8] then
    raise exception 'Quarry needs pgvector 0.8 or newer; run "alter extension vector update"' using errcode = 'feature_not_supported';
  end if;
end $$;

-- concat_ws and array_to_string are only stable, because of types whose text depends on settings; for text they are immutable.
create function joined_text(variadic parts text[]) returns text
language sql immutable parallel safe
return array_to_string(parts, E'\n');

create function joined_names(names text[]) returns text
language sql immutable parallel safe
return array_to_string(names, ', ');

-- One row: which model filled the vectors of this database. A process configured otherwise does not search semantically.
create table embedding_model (
  only_row boolean primary key default true check (only_row),
  name text not null,
  dimensions int not null,
  recorded_at timestamptz not null default now()
);

create table search_runs (
  id uuid primary key,
  domain text not null,
  caller text not null,
  query text not null,
  status text not null check (status in ('completed', 'failed', 'abandoned')),
  end_reason text,
  started_at timestamptz not null,
  duration_ms double precision not null,
  chat_model text,
  prompt_tokens int not null default 0,
  completion_tokens int not null default 0,
  degraded_steps text[] not null default '{}',
  request_id text
);
create index search_runs_started_at on search_runs (started_at);

create table search_run_steps (
  run_id uuid not null references search_runs on delete cascade,
  step_number int not null,
  name text not null,
  status text not null check (status in ('completed', 'degraded', 'failed')),
  started_ms double precision not null,
  duration_ms double precision not null,
  prompt_tokens int not null default 0,
  completion_tokens int not null default 0,
  counts jsonb not null default '{}',
  primary key (run_id, step_number)
);

create table search_run_results (
  run_id uuid not null references search_runs on delete cascade,
  rank int not null,
  result_type text not null,
  result_id text not null,
  score double precision not null,
  primary key (run_id, rank)
);

-- A row lives for one minute of one caller and class of route; the cleanup removes it.
create unlogged table rate_windows (
  caller text not null,
  route_class text not null,
  window_start timestamptz not null,
  requests int not null,
  primary key (caller, route_class, window_start)
);
create index rate_windows_window_start on rate_windows (window_start);

-- Which sample data is in here, so that a second demo does not load it again.
create table loaded_samples (
  domain text primary key,
  sha256 text not null,
  loaded_at timestamptz not null default now()
);
