-- What users keep, conversations and searches, and what of the data was forgotten.

-- `turns` is an array of what was asked and what was answered, as the page has it.
create table conversations (
  id uuid primary key,
  user_id text not null,
  domain text not null,
  title text not null,
  turns jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index conversations_user on conversations (user_id, updated_at desc);

create table saved_searches (
  id uuid primary key,
  user_id text not null,
  domain text not null,
  name text not null,
  query text not null,
  parameters jsonb not null default '{}',
  created_at timestamptz not null default now(),
  opened_at timestamptz not null default now()
);
create index saved_searches_user on saved_searches (user_id, created_at desc);

-- What a saved search has shown: what is not here is new.
create table saved_search_results (
  search_id uuid not null references saved_searches on delete cascade,
  result_type text not null,
  result_id text not null,
  shown_at timestamptz not null default now(),
  primary key (search_id, result_type, result_id)
);

-- The audit of forgetting: that something was forgotten, and not what. Searches that began before must not store it again.
create table forgotten (
  kind text not null,
  id_hash text not null,
  forgotten_at timestamptz not null default now(),
  rows jsonb not null  -- how many were deleted or changed, by table
);
create index forgotten_id_hash on forgotten (id_hash, forgotten_at);

create function id_hash(id text) returns text
language sql immutable parallel safe
return encode(sha256(convert_to(id, 'UTF8')), 'hex');
