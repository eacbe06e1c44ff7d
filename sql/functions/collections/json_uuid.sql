-- The UUID that a text of JSON is, to compare it with a key; null where it is none.
create or replace function json_uuid(p_text text) returns uuid
language sql immutable parallel safe
as $$
  select case when p_text ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then p_text::uuid end
$$;
