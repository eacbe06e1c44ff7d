-- The companies with these ids, in the order of their first mention; unknown ids are skipped.
create or replace function get_companies_by_ids_v1(p_ids text[]) returns setof companies
language sql stable
as $$
  select c.* from companies c where c.id = any(p_ids) order by array_position(p_ids, c.id)
$$;
