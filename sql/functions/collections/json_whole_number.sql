-- The whole number that a text of JSON is, to compare it with a key; null where it is none.
create or replace function json_whole_number(p_text text) returns bigint
language sql immutable parallel safe
as $$
  select case when p_text ~ '^\s*-?\d{1,18}\s*$' then p_text::bigint end
$$;
