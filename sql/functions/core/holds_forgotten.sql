-- Whether a turn or event of a domain contains the id of a record forgotten within a day. An id without a type belongs to the domain; only
-- domains with several types say which. If the domain is unknown, any domain matches.
create or replace function holds_forgotten(p_json jsonb, p_domain text) returns boolean
language sql stable
as $$
  -- usually nothing is forgotten, and then nothing is read
  select exists (select from forgotten f where f.forgotten_at > now() - interval '1 day') and exists (
    select from quoted_records(p_json) q
    join forgotten f on f.id_hash = id_hash(q.id) and f.forgotten_at > now() - interval '1 day'
    where q.kind = f.kind
      or (f.domain = p_domain) is not false
        and (q.kind is null or coalesce(f.domain, p_domain, '') not in ('records', 'ontology')))
$$;
