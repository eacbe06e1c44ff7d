-- What a search of people costs and leaves behind.

-- The first call under a key claims it, until `claimed_until` unless it renews the claim; `response` is there once it was answered.
create table idempotency_keys (
  caller text not null,
  endpoint text not null,
  key text not null,
  body_hash text not null,
  claim uuid not null,
  claimed_until timestamptz not null,
  response text,
  expires_at timestamptz not null,
  primary key (caller, endpoint, key)
);
create index idempotency_keys_expires_at on idempotency_keys (expires_at);

-- A balance is the sum of its user's entries in the ledger: both are written by one statement, and entries are only ever added.
create table credit_accounts (
  user_id text primary key,
  balance bigint not null check (balance >= 0)
);

-- `reference` is what the entry is for: a search, a person unlocked, a grant. Nothing is booked twice.
create table credit_ledger (
  entry_number bigint generated always as identity primary key,
  user_id text not null references credit_accounts,
  amount bigint not null check (amount <> 0),
  reason text not null check (reason in ('initial', 'grant', 'search', 'unlock')),
  reference text not null,
  created_at timestamptz not null default now(),
  unique (user_id, reason, reference)
);
create index credit_ledger_user on credit_ledger (user_id, entry_number);

-- One search, as it was read and answered; its results can be opened until it expires.
create table people_searches (
  id uuid primary key,
  user_id text not null,
  query_text text not null,
  parsed_constraints jsonb not null,
  filters jsonb not null,
  fallback_tier smallint not null check (fallback_tier between 0 and 3),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index people_searches_expires_at on people_searches (expires_at);

-- `extra` holds matched_parent_ids, matched_child_ids and why_matched.
create table people_search_results (
  search_id uuid not null references people_searches on delete cascade,
  person_id text not null references people on delete cascade,
  rank smallint not null,
  score double precision not null,
  extra jsonb not null,
  primary key (search_id, person_id)
);
create index people_search_results_person_id on people_search_results (person_id);

-- Who may see whose contact details. `search_id` is the search that it happened in; an unlock outlives it.
create table contact_unlocks (
  user_id text not null,
  person_id text not null references people on delete cascade,
  search_id uuid not null,
  unlocked_at timestamptz not null default now(),
  primary key (user_id, person_id)
);
create index contact_unlocks_person_id on contact_unlocks (person_id);

-- The order of the list of people: by name, those without one last.
create index people_discover on people ((name is null), lower(coalesce(name, '')), id);
