"""The literal functions that the companies search is based on, kept for comparison.

They read the same tables as the search, so they also use the vectors stored in the row as half floats. They may use the indexes
that they were designed with: the weighted text as an expression, and one on the niches.
"""

WEIGHTED_TEXT = """(
    setweight(to_tsvector('english', coalesce(c.company_name, '')), 'A')
    || setweight(to_tsvector('english', coalesce(c.tagline, '')), 'B')
    || setweight(to_tsvector('english', coalesce(c.description, '')), 'B')
    || setweight(to_tsvector('english', coalesce(c.product_description, '')), 'C')
    || setweight(to_tsvector('english', coalesce(c.target_customer, '')), 'C')
    || setweight(to_tsvector('english', coalesce(c.problem_solved, '')), 'D')
    || setweight(to_tsvector('english', coalesce(c.differentiator, '')), 'D'))"""

_HYBRID = """
create function {name}(
  p_query_text text, p_embedding halfvec, p_statuses text[], p_limit int default 120, p_min_semantic float8 default 0.25
) returns table (company_id text, combined_score float8) language plpgsql stable as $$
begin
  return query
  with q as (select websearch_to_tsquery('english', p_query_text) as words), scored as (
    select c.id, 1 - (e.embedding <=> p_embedding) as semantic, ts_rank({text}, q.words)::float8 as keyword,
      ts_rank(c.niches_search, q.words)::float8 as niche
    from companies c join company_embeddings e on e.record_id = c.id and e.embedding_type = 'searchable_profile', q
    where c.status = any(p_statuses) and 1 - (e.embedding <=> p_embedding) >= p_min_semantic
  )
  select s.id, 0.58 * s.semantic + 0.27 * s.keyword + 0.15 * s.niche from scored s order by 2 desc limit p_limit;
end $$;
"""

_KEYWORD = """
create function literal_search_companies_keyword(p_query_text text, p_statuses text[], p_limit int default 120)
returns table (company_id text, combined_score float8) language plpgsql stable as $$
begin
  if coalesce(trim(p_query_text), '') = '' then
    return;
  end if;
  return query
  with q as (select websearch_to_tsquery('english', p_query_text) as words), scored as (
    select c.id, ts_rank({text}, q.words)::float8 as keyword, ts_rank(c.niches_search, q.words)::float8 as niche
    from companies c, q where c.status = any(p_statuses) and ({text} @@ q.words or c.niches_search @@ q.words)
  )
  select s.id, 0.85 * s.keyword + 0.15 * s.niche from scored s order by 2 desc limit p_limit;
end $$;
"""

_NAME = """
create function literal_search_exact_name(p_query_text text, p_statuses text[], p_limit int default 5)
returns table (company_id text, name_score float8) language plpgsql stable as $$
begin
  return query
  select c.id,
    case when lower(c.company_name) = lower(p_query_text) then 1.0 else similarity(c.company_name, p_query_text) end::float8
  from companies c
  where c.status = any(p_statuses) and (lower(c.company_name) = lower(p_query_text)
    or similarity(c.company_name, p_query_text) >= 0.35
    or c.website_url ilike '%' || replace(p_query_text, ' ', '') || '%')
  order by 2 desc limit p_limit;
end $$;
"""

_TAXONOMY = """
create function literal_search_companies_by_taxonomy(
  p_sectors text[], p_categories text[], p_business_models text[], p_statuses text[], p_limit int default 500
) returns table (company_id text, tag_score int) language plpgsql stable as $$
begin
  return query
  select t.id, t.sectors + t.categories + t.models from (
    select c.id, c.company_name,
      (select count(*)::int from unnest(c.sectors) s where s = any(coalesce(p_sectors, '{}'))) as sectors,
      (select count(*)::int from unnest(c.categories) s where s = any(coalesce(p_categories, '{}'))) as categories,
      (select count(*)::int from unnest(c.business_models) s where s = any(coalesce(p_business_models, '{}'))) as models
    from companies c where c.status = any(p_statuses) and ((p_sectors is not null and c.sectors && p_sectors)
      or (p_categories is not null and c.categories && p_categories)
      or (p_business_models is not null and c.business_models && p_business_models))
  ) t order by 2 desc, t.company_name limit p_limit;
end $$;
"""

LITERAL = "\n".join(
    (
        _HYBRID.format(name="literal_search_companies_hybrid", text=WEIGHTED_TEXT),
        # the same ranking on the stored text, comparing and ranking every company
        _HYBRID.format(name="exact_search_companies_hybrid", text="c.text_search"),
        _KEYWORD.format(text=WEIGHTED_TEXT),
        _NAME,
        _TAXONOMY,
    )
)

LITERAL_INDEX = "create index literal_weighted_text on companies using gin ({}) with (fastupdate = off)".format(
    WEIGHTED_TEXT.replace("c.", "")
)
