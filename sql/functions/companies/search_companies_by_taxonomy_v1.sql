-- The companies with at least one of the requested tags. tag_score = sector_hits + category_hits + model_hits, each tag counted once even
-- if repeated. Ordered by hits (most first), name, id. Without p_statuses: companies of every status. Of more than 24 tags, 24 are used.
--
-- `p_filter` is an SQL condition on a row `t` of companies: only rows that meet it are found. It is built by the service, never taken from
-- a caller's text.
--
-- Companies with two hits come before all those with one, and are far fewer: if there are enough of them, no others are read.
create or replace function search_companies_by_taxonomy_v1(
  p_sectors text[], p_categories text[], p_business_models text[], p_statuses text[] default array['startup'], p_limit int default 500,
  p_filter text default null
) returns table (company_id text, sector_hits int, category_hits int, model_hits int, tag_score int)
language plpgsql stable
as $$
declare
  asked constant text[] := (taxonomy_tags(p_sectors, p_categories, p_business_models))[:24];
  no_hits constant text := '0';
  tags tsquery;
  two_tags tsquery;
  sectors text;
  categories text;
  models text;
  enough boolean;
  scope constant text := concat_ws(' and ', 'true',
    case when p_statuses is not null then 't.status = any($3)' end, case when p_filter is not null then '(' || p_filter || ')' end);
begin
  if asked = '{}' then
    return;
  end if;
  select string_agg(quote_literal(a.tag) || ' & ' || quote_literal(b.tag), ' | ')::tsquery into two_tags
  from unnest(asked) a (tag) join unnest(asked) b (tag) on a.tag < b.tag;
  select string_agg(a.lexeme, ' | ')::tsquery,
    coalesce(string_agg(a.hit, ' + ') filter (where a.tag like 'sector:%'), no_hits),
    coalesce(string_agg(a.hit, ' + ') filter (where a.tag like 'category:%'), no_hits),
    coalesce(string_agg(a.hit, ' + ') filter (where a.tag like 'business_model:%'), no_hits)
  into tags, sectors, categories, models
  from (
    select u.tag, quote_literal(u.tag) as lexeme, format('(t.taxonomy_search @@ %L::tsquery)::int', quote_literal(u.tag)) as hit
    from unnest(asked) u (tag)
  ) a;
  execute format('select $1 <= (select count(*) from (select from companies t where t.taxonomy_search @@ $2 and %s limit $1) enough)', scope)
    into enough using p_limit, two_tags, p_statuses;
  if enough then
    tags := two_tags;
  end if;

  return query execute format(
    'select m.id, m.sectors, m.categories, m.models, m.sectors + m.categories + m.models from ('
    '  select t.id, t.company_name, %s as sectors, %s as categories, %s as models from companies t'
    '  where t.taxonomy_search @@ $1 and %s'
    ') m order by 5 desc, m.company_name, m.id limit $2', sectors, categories, models, scope)
    using tags, p_limit, p_statuses;
end
$$;
