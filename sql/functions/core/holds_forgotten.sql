-- Whether a turn or an event of a domain holds the id of something forgotten within a day. An id without a type is one of its domain's;
-- which of them, only the domains with several types say. Where a domain is not known it may be any.
create or replace function holds_forgotten(p_json jsonb, p_domain text) returns boolean
language sql stable
as $$
  -- most of the time nothing is, and nothing is read
  select exists (select from forgotten f where f.forgotten_at > now() - interval '1 day') and exists (
    select from quoted_records(p_json) q
    join forgotten f on f.id_hash = id_hash(q.id) and f.forgotten_at > now() - interval '1 day'
    where q.kind = f.kind
      or (f.domain = p_domain) is not false
        and (q.kind is null or coalesce(f.domain, p_domain, '') not in ('records', 'ontology')))
$$;
