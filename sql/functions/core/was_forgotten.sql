-- Whether a record was forgotten within a day: a run that began before, or an open page, must not bring it back. A record loaded again is
-- kept again after that.
create or replace function was_forgotten(p_kind text, p_id text) returns boolean
language sql stable
return exists (
  select from forgotten f where f.id_hash = id_hash(p_id) and f.kind = p_kind and f.forgotten_at > now() - interval '1 day');
