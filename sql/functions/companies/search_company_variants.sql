-- Hybrid and keyword search for several phrasings in one round trip. Each company once, with its highest value of each signal over all
-- phrasings, best combined first. `variants` is the number of phrasings that found it, `found_by` names the searches.
-- p_fitting, p_fits_many: see vector_candidates.
-- A phrasing without an embedding is only searched by its words. Of more than 16 phrasings, the first 16 are searched.
create or replace function search_company_variants(
  p_texts text[], p_embeddings halfvec[], p_statuses text[], p_include_ids text[], p_exclude_ids text[], p_hybrid boolean, p_keyword boolean,
  p_limit int, p_min_semantic double precision, p_hybrid_weights double precision[], p_keyword_weights double precision[],
  p_filter text default null, p_fitting text[] default null, p_fits_many boolean default false
) returns table (
  company_id text, semantic double precision, keyword double precision, niche double precision, combined double precision,
  matched_fields text[], variants int, found_by text[]
)
language sql stable
as $$
  with found as (
    select 'hybrid' as search, v.place, h.company_id, h.semantic_score as semantic, h.keyword_score as keyword, h.niche_score as niche,
      h.combined_score as combined, h.matched_fields
    from unnest(p_texts[:16], p_embeddings[:16]) with ordinality v (text, embedding, place),
      lateral search_companies_hybrid_v1(
        v.text, v.embedding, p_statuses, p_include_ids, p_exclude_ids, p_limit, p_min_semantic, p_hybrid_weights, p_filter, p_fitting, p_fits_many) h
    where p_hybrid and v.embedding is not null
    union all
    select 'keyword', v.place, k.company_id, 0, k.keyword_score, k.niche_score, k.combined_score, k.matched_fields
    from unnest(p_texts[:16]) with ordinality v (text, place),
      lateral search_companies_keyword_v1(v.text, p_statuses, p_limit, p_include_ids, p_exclude_ids, p_keyword_weights, p_filter) k
    where p_keyword
  )
  select f.company_id, max(f.semantic), max(f.keyword), max(f.niche), max(f.combined),
    array_remove(array[
      case when bool_or('semantic' = any(f.matched_fields)) then 'semantic' end,
      case when bool_or('keyword' = any(f.matched_fields)) then 'keyword' end,
      case when bool_or('niche' = any(f.matched_fields)) then 'niche' end], null),
    count(distinct f.place)::int,
    array_agg(distinct f.search order by f.search)
  from found f
  group by f.company_id
  order by 5 desc, 1
$$;
