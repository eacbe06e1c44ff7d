-- A value as groups and filters compare it: without case, accents and outer spaces; null if nothing remains. Plain ASCII, as most values
-- are, takes a fast path.
create or replace function folded_value(p_value text) returns text
language sql immutable parallel safe
as $$
  select nullif(btrim(case when octet_length(p_value) = length(p_value) then lower(p_value) else folded_text(p_value) end,
    E' \t\n\r\f\v'), '')
$$;
