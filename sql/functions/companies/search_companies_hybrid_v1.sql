-- Companies by meaning and words, best first:
--
--   combined = w1 · semantic + w2 · keyword + w3 · niche,   of companies with semantic >= p_min_semantic
--
-- where semantic is the cosine similarity of the nearest window of the company's searchable profile, keyword the ts_rank of its
-- weighted texts and niche that of its niches, both for the whole query (see read_query). Equal scores are
-- ordered by id. `matched_fields` names the signals above 0; ts_rank gives 1e-20 to a row that does not match. Without
-- p_statuses: companies of every status. Without an embedding: nothing, since nothing is similar to it.
--
-- `p_filter` is a condition over a row `t` of companies, as SQL: only rows that meet it are found. It is made by the service, never
-- taken from a caller's text.
--
-- Not every company is compared. Those nearest in meaning come from the vector index. One that is not among them has at most the
-- similarity of the last of these, so it can only rise into the list by its words: rows that hold two of the query's words (or
-- its only one) are ranked, and of these only what could still reach the list is compared. Where p_statuses or p_include_ids
-- leave few companies, all of them are.
create or replace function search_companies_hybrid_v1(
  p_query_text text, p_query_embedding halfvec, p_statuses text[] default array['startup'], p_include_ids text[] default null,
  p_exclude_ids text[] default '{}', p_limit int default 120, p_min_semantic double precision default 0.25,
  p_weights double precision[] default array[0.58, 0.27, 0.15], p_filter text default null
) returns table (
  company_id text, semantic_score double precision, keyword_score double precision, niche_score double precision,
  combined_score double precision, matched_fields text[]
)
language plpgsql stable
set hnsw.ef_search = 120
set hnsw.iterative_scan = relaxed_order
set hnsw.max_scan_tuples = 50000
set hnsw.scan_mem_multiplier = 4
as $$
declare
  fewest_indexed constant int := 2000;
  no_match constant float8 := 1e-15;
  max_words constant int := 8;
  max_worded constant int := 4000;
  asked constant record := read_query(coalesce(p_query_text, ''));
  all_words constant tsquery := asked.all_words;
  scope constant text := concat_ws(' and ', 'true',
    case when p_statuses is not null then 't.status = any($5)' end,
    case when p_exclude_ids <> '{}' then 'not t.id = any($6)' end,
    case when p_filter is not null then '(' || p_filter || ')' end);
  companies_count float8;
  windows_per_company float8;
  nearest_count int;
  few_count int;
  compared text[] := p_include_ids;
  some_words tsquery;
begin
  if p_query_embedding is null or coalesce(p_limit, 0) < 1 then
    return;
  end if;
  select greatest(1, c.reltuples), least(4, greatest(1, e.reltuples / greatest(1, c.reltuples))) into companies_count, windows_per_company
  from pg_class c, pg_class e where c.oid = 'companies'::regclass and e.oid = 'company_embeddings'::regclass;
  nearest_count := ceil(2 * p_limit * windows_per_company);

  if compared is null then
    -- to find nearest_count of n among N companies the index is walked past nearest_count · N/n; below about this n, comparing all
    -- of them is cheaper
    few_count := greatest(fewest_indexed, 2 * sqrt(companies_count * nearest_count));
    execute format('select array(select t.id from companies t where %s limit $1 + 1)', scope)
      into compared using few_count, null::int, null::int, null::int, p_statuses, p_exclude_ids;
    if cardinality(compared) > few_count then
      compared := null;
    end if;
  end if;
  if compared is null then
    select w.candidates into some_words from weigh_words('companies', asked.words, max_words, max_worded, true) w;
    if some_words is null and numnode(all_words) > 0 then
      nearest_count := 2 * nearest_count;  -- words too common to be looked up
    end if;
  end if;

  return query execute format('
  with nearest as materialized (
    select w.record_id as id, max(w.semantic) as semantic, max(w.keyword) as keyword, max(w.niche) as niche
    from (
      select e.record_id, 1 - (e.embedding <=> $1) as semantic,
        ts_rank(t.text_search, $2)::float8 as keyword, ts_rank(t.niches_search, $2)::float8 as niche
      from company_embeddings e join companies t on t.id = e.record_id
      where $3 is null and e.embedding_type = ''searchable_profile'' and %1$s
      order by e.embedding <=> $1 limit $4
    ) w
    group by w.record_id
  ), reach as materialized (
    select (select min(n.semantic) from nearest n) as farthest,
      (select $8[1] * n.semantic + $8[2] * n.keyword + $8[3] * n.niche as combined from nearest n
       where n.semantic >= $7 order by 1 desc offset $9 - 1 limit 1) as last_score
  ), worded as (
    select l.id, s.semantic, l.keyword, l.niche
    from reach r, lateral (
      select t.id, ts_rank(t.text_search, $2)::float8 as keyword, ts_rank(t.niches_search, $2)::float8 as niche
      from companies t
      where t.text_search @@ $10 and %1$s
      limit $11
    ) l, lateral (
      select 1 - min(e.embedding <=> $1) as semantic from company_embeddings e
      where e.record_id = l.id and e.embedding_type = ''searchable_profile''
    ) s
    where r.farthest >= $7 and s.semantic >= $7 and l.id not in (select n.id from nearest n)
      and $8[1] * r.farthest + $8[2] * l.keyword + $8[3] * l.niche >= coalesce(r.last_score, 0)
  ), few as (
    select t.id, s.semantic, ts_rank(t.text_search, $2)::float8 as keyword, ts_rank(t.niches_search, $2)::float8 as niche
    from (
      select e.record_id, 1 - min(e.embedding <=> $1) as semantic from company_embeddings e
      where e.record_id = any($3) and e.embedding_type = ''searchable_profile''
      group by e.record_id
    ) s join companies t on t.id = s.record_id
    where s.semantic >= $7 and %1$s
  ), found as (
    select * from nearest n where n.semantic >= $7
    union all
    select * from worded
    union all
    select * from few
  ), scored as (
    select f.id, f.semantic, case when f.keyword > $12 then f.keyword else 0 end as keyword,
      case when f.niche > $12 then f.niche else 0 end as niche
    from found f
  )
  select s.id, s.semantic, s.keyword, s.niche, $8[1] * s.semantic + $8[2] * s.keyword + $8[3] * s.niche,
    array_remove(array[case when s.semantic > 0 then ''semantic'' end, case when s.keyword > 0 then ''keyword'' end,
      case when s.niche > 0 then ''niche'' end], null)
  from scored s
  order by 5 desc, 1
  limit $9', scope)
    using p_query_embedding, all_words, compared, nearest_count, p_statuses, p_exclude_ids, p_min_semantic, p_weights, p_limit,
      some_words, max_worded, no_match;
end
$$;
