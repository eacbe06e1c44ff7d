-- The companies filed under at least one of the tags asked for. tag_score = sector_hits + category_hits + model_hits, each tag
-- counted once however often it is asked for or filed. Most hits first, then by name.
--
-- Without p_statuses: companies of every status.
create or replace function search_companies_by_taxonomy_v1(
  p_sectors text[], p_categories text[], p_business_models text[], p_statuses text[] default array['startup'], p_limit int default 500
) returns table (company_id text, sector_hits int, category_hits int, model_hits int, tag_score int)
language plpgsql stable
as $$
declare
  asked constant text[] := taxonomy_tags(p_sectors, p_categories, p_business_models);
  hits text;
begin
  if asked = '{}' then
    return;
  end if;
  select string_agg(format('(c.taxonomy_tags @> array[%L])::int', a.tag), ' + ') into hits from unnest(asked) a (tag);
  return query execute format(
    'select t.id,'
    '  (select count(*)::int from unnest(t.taxonomy_tags) a (tag) where a.tag = any($1) and a.tag like ''sector:%%''),'
    '  (select count(*)::int from unnest(t.taxonomy_tags) a (tag) where a.tag = any($1) and a.tag like ''category:%%''),'
    '  (select count(*)::int from unnest(t.taxonomy_tags) a (tag) where a.tag = any($1) and a.tag like ''business_model:%%''),'
    '  t.hits'
    ' from ('
    '   select c.id, c.company_name, c.taxonomy_tags, %s as hits from companies c'
    '   where c.taxonomy_tags && $1 and ($2 is null or c.status = any($2))'
    '   order by hits desc, c.company_name, c.id limit $3'
    ' ) t order by t.hits desc, t.company_name, t.id', hits)
    using asked, p_statuses, p_limit;
end
$$;
