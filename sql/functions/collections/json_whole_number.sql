-- The integer in a JSON text, to compare it with a key; null if it is not one.
create or replace function json_whole_number(p_text text) returns bigint
language sql immutable parallel safe
as $$
  select case when p_text ~ '^\s*-?\d{1,18}\s*$' then p_text::bigint end
$$;
