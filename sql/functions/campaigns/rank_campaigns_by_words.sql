-- Campaigns whose copy holds some of the words of a query, best first, at most p_limit; of p_ids alone, or of all where that is null.
-- The score is the share of the query's words that the copy holds, each word by its idf (see weigh_words): 1 for all of them.
--
-- The work does not depend on the query: of the campaigns that hold its rare words, or pairs of the others, at most max_looked_at
-- are looked at.
create or replace function rank_campaigns_by_words(p_query text, p_limit int, p_ids text[] default null)
returns table (id text, score double precision)
language plpgsql stable
set synchronize_seqscans = off
set plan_cache_mode = force_custom_plan
as $$
declare
  max_words constant int := 8;
  max_looked_at constant int := 2000;
  asked_words text[];
  asked_weights float8[];
  asked_queries tsquery[];  -- of a word each, read once and not again for every row
  candidates tsquery;
begin
  select w.* into asked_words, asked_weights, candidates 
  from weigh_words('campaigns', (read_query(p_query)).words, max_words, max_looked_at) w;
  if candidates is null then
    return;
  end if;
  asked_queries := array(select quote_literal(w.word)::tsquery from unnest(asked_words) with ordinality w (word, place) order by w.place);
  return query
    select m.id, (
      select sum(w.weight) filter (where m.text_search @@ w.query) / nullif(sum(w.weight), 0)
      from unnest(asked_queries, asked_weights) w (query, weight)) as score
    from (
      select c.id, c.text_search from campaigns c
      where c.text_search @@ candidates and (p_ids is null or c.id = any(p_ids)) limit max_looked_at
    ) m
    order by 2 desc nulls last, 1 limit p_limit;
end
$$;
