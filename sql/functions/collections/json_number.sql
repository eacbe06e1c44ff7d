-- The number that a text of JSON is; null where it is none. So one row with "n/a" fails no statement that reads the others.
create or replace function json_number(p_text text) returns numeric
language sql immutable parallel safe
as $$
  select case when p_text ~ '^\s*[-+]?(\d{1,60}(\.\d{0,60})?|\.\d{1,60})([eE][-+]?\d{1,2})?\s*$' then p_text::numeric end
$$;
