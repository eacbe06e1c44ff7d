-- Software as a service for many: accounts, secrets of every kind, tables of tools, row-level security.
create extension if not exists citext;
create table accounts (id uuid primary key default gen_random_uuid(), name text not null, created_at timestamptz not null default now());
create table users (
  id uuid primary key default gen_random_uuid(), account_id uuid not null references accounts, full_name text not null,
  email citext not null unique, password_hash text not null, "apiKey" text, otp_secret text, salt text, session_token text,
  password_changed_at timestamptz, has_password boolean, avatar_url text, created_at timestamptz not null default now());
create table tickets (
  id bigint generated always as identity primary key, account_id uuid not null references accounts, subject text not null,
  body text not null, resolution text, status text not null, priority text, type text not null, agent_id uuid references users,
  tags text[], metadata jsonb, url text, is_public boolean not null default false, happened_on date,
  created_at timestamptz not null default now(), updated_at timestamptz not null default now());
create table customers (
  id bigint primary key, account_id uuid not null references accounts, first_name text, last_name text, iban text,
  card_number text, ssn text, tax_id text, notes text, balance numeric, city text, state text);
create table invoices (
  id bigint primary key, account_id uuid not null references accounts, number text not null, memo text, total money, due_on date);
alter table invoices enable row level security;
create policy own on invoices using (account_id = current_setting('app.account')::uuid);
create table articles (
  slug text not null unique, account_id uuid not null references accounts, headline text not null, content text not null,
  published_at timestamptz, created_at timestamptz);
create table api_keys (id bigint primary key, name text, value text);
create table password_resets (email text primary key, body text);
create table schema_migrations (version text primary key, description text);
create table events (at timestamptz, message text);
create table logins (token text primary key, note text);
