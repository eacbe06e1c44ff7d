-- search_exact_name_v1 for several names in one round trip: each company once, with its best match among the names (`asked`), best first.
-- Of more than 20 names, the first 20 are searched.
create or replace function search_exact_names(
  p_names text[], p_statuses text[] default array['startup'], p_limit int default 5, p_min_similarity double precision default 0.35
) returns table (company_id text, company_name text, name_score double precision, matched text, status text, asked text)
language sql stable
as $$
  select b.company_id, b.company_name, b.name_score, b.matched, b.status, b.asked
  from (
    select distinct on (m.company_id) m.*, a.asked, a.place
    from unnest(p_names[:20]) with ordinality a (asked, place),
      lateral search_exact_name_v1(a.asked, p_statuses, p_limit, p_min_similarity) with ordinality m (company_id, company_name, name_score, matched, status, rank)
    order by m.company_id, m.name_score desc, a.place
  ) b
  order by b.name_score desc, b.place, b.rank
$$;
