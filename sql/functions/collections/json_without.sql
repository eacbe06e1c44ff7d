-- A document without the value at a path; unchanged if the path leads through anything but objects.
create or replace function json_without(p_document jsonb, p_path text[]) returns jsonb
language sql immutable parallel safe
as $$
  select case jsonb_typeof(p_document #> p_path[:cardinality(p_path) - 1])
    when 'object' then p_document #- p_path
    else p_document
  end
$$;
