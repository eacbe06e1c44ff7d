-- The boolean in a JSON text; null if it is not one.
create or replace function json_truth(p_text text) returns boolean
language sql immutable parallel safe
as $$
  select case lower(btrim(p_text))
    when 'true' then true when 'yes' then true when 'y' then true when 't' then true when '1' then true
    when 'false' then false when 'no' then false when 'n' then false when 'f' then false when '0' then false
  end
$$;
