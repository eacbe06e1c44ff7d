-- The UUID in a JSON text, to compare it with a key; null if it is not one.
create or replace function json_uuid(p_text text) returns uuid
language sql immutable parallel safe
as $$
  select case when p_text ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then p_text::uuid end
$$;
