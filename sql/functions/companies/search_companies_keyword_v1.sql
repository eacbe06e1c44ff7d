-- Companies by their words alone, best first: combined = w1 · keyword + w2 · niche.
--
-- First the companies with every word of the query, see read_query (quotes, or, -not), in their texts or in their niches: keyword and niche
-- are the ts_rank of the two. If they are fewer than half of p_limit, companies with some of the words follow. Missing words then add
-- nothing: keyword and niche are Σ idf(word) · ts_rank(row, word) / Σ idf(word), so they are on the same scale, and lower for less
-- coverage. Exclusions (-word) and quoted phrases ("a phrase") still apply. Equal scores are ordered by id.
--
-- The work does not depend on the query: of the companies with its words (of p_include_ids, if given), at most max_read are checked against
-- the other conditions, at most max_looked_at of these against its phrases and exclusions, and at most max_ranked_words / words of the
-- matches are ranked. If more than max_looked_at contain each of the words, up to half of these are the known best ones for a word, and
-- those written since (champion_rows); if a single word has enough of these, there are no others. If at most max_together are expected to
-- contain all of such words, all of them are ranked instead.
--
-- `p_filter` is an SQL condition on a row `t` of companies: only rows that meet it are read. It is built by the service, never taken from a
-- caller's text.
--
-- `coverage` is the idf-weighted share of the query's words in the row, 1 for every word. Without p_statuses: companies of every status.
create or replace function search_companies_keyword_v1(
  p_query_text text, p_statuses text[] default array['startup'], p_limit int default 120, p_include_ids text[] default null,
  p_exclude_ids text[] default '{}', p_weights double precision[] default array[0.85, 0.15], p_filter text default null
) returns table (
  company_id text, keyword_score double precision, niche_score double precision, combined_score double precision,
  coverage double precision, matched_fields text[]
)
language plpgsql stable
set enable_seqscan = on
set synchronize_seqscans = off
as $$
declare
  max_read constant int := 8000;
  max_looked_at constant int := 5000;
  max_ranked_words constant int := 12000;
  max_candidates constant int := 1000;  -- most rows with some of the words to rank
  max_words constant int := 8;  -- weightiest words of a long query to look up
  among constant text := coalesce('and ' || company_condition(null, p_include_ids, null, null), '');
  scope constant text := coalesce(company_condition(p_statuses, null, p_exclude_ids, p_filter), 'true');
  matched constant text := 'array_remove(array['
    'case when m.keyword > 0 then ''keyword'' end, case when m.niche > 0 then ''niche'' end], null)';
  asked constant record := read_query(coalesce(p_query_text, ''));
  max_said constant int := 16;  -- words of the whole query, see read_query
  max_matches constant int := max_ranked_words / greatest(1, least(max_said, cardinality(asked.words)));
  max_listed constant int := 4;  -- words
  listed constant int := max_matches / 2 / greatest(1, least(max_listed, cardinality(asked.words)));
  of_best constant text := '(select * from companies t where t.id = any($5) offset 0) t';  -- only the index of ids
  max_together constant int := 60000 / greatest(1, cardinality(asked.words));
  together int;
  best text[];
  is_common boolean;
  is_enough boolean;
  weighed weighed_query;
  some_words tsquery;
  indexed tsquery;
  keyword_sum text;
  niche_sum text;
  held_sum text;
  found int;
begin
  -- without words, or with only exclusions, every row would match
  if numnode(asked.all_words) = 0 then
    return;
  end if;

  is_common := p_weights[1] > p_weights[2] and not exists (
    select from unnest(asked.words) w (word) left join lexeme_counts c on c.of_table = 'companies' and c.lexeme = w.word
    where c.rows is null or c.rows <= max_looked_at);
  if is_common then
    -- the number of rows with all words is only known without OR, phrases and exclusions; related words are in somewhat more rows
    select max_together into together from lexeme_counts c join text_totals t using (of_table)
    where c.of_table = 'companies' and c.lexeme = any(asked.words) and asked.all_words::text !~ '[|!<]'
    having count(*) > 1 and 0.8 * max_together > min(t.rows) * exp(sum(ln(c.rows / greatest(1, t.rows)::float8)));
  end if;
  if together is null and is_common then
    select array_agg(distinct b.id) into best
    from unnest(asked.words[:max_listed]) w (word), unnest(champion_rows('companies', w.word, listed, max_looked_at)) b (id);
    execute format('select array(select t.id from %s where (t.text_search @@ $1 or t.niches_search @@ $1) %s and %s)', of_best, among, scope)
      into best using asked.all_words, null, null, null, best;
    is_enough := cardinality(asked.words) = 1 and cardinality(best) >= p_limit;
  end if;

  return query execute format(
    'select m.id, m.keyword, m.niche, $3[1] * m.keyword + $3[2] * m.niche, 1::float8, %s'
    ' from ('
    '   select r.id, case when r.keyword > 1e-15 then r.keyword else 0 end as keyword,'
    '     case when r.niche > 1e-15 then r.niche else 0 end as niche'
    '   from ('
    '     select t.id, ts_rank(t.text_search, $1)::float8 as keyword, ts_rank(t.niches_search, $1)::float8 as niche'
    '     from (%s) t offset 0'
    '   ) r offset 0'
    ' ) m order by 4 desc, 1 limit $2', matched, concat_ws(' union all ',
      case when best is not null then 'select t.* from ' || of_best end,
      case when is_enough is not true then format(
        '(select t.* from (select t.* from (select t.* from companies t where (t.text_search @@ $4 or t.niches_search @@ $4) %s %s limit %s) t where %s limit %s) t'
        ' where t.text_search @@ $1 or t.niches_search @@ $1 limit %s)',
        among, case when best is not null then 'and not t.id = any($5)' end, greatest(max_read, together), scope,
        greatest(max_looked_at, together), greatest(max_matches - coalesce(cardinality(best), 0), together)) end))
    using asked.all_words, p_limit, p_weights, index_query(asked.all_words), best;
  get diagnostics found = row_count;
  if 2 * found >= p_limit then
    return;
  end if;

  weighed := weigh_query(array['companies'], p_query_text, p_strict => true, p_max_words => max_words);
  select coalesce(g.parts[1], '') || coalesce(g.parts[3], '') || coalesce(g.parts[4], '') into some_words
  from candidate_queries('companies', weighed.words, max_candidates) g (parts);
  if numnode(some_words) = 0 then
    return;
  end if;
  indexed := some_words;
  if numnode(weighed.required) > 0 then
    indexed := some_words && bounded_index_query('companies', weighed.required, 'infinity');
    some_words := some_words && weighed.required;
  end if;
  select string_agg(format('%L::float8 * ts_rank(t.text_search, %L)', u.share, quote_literal(u.word)), ' + '),
    string_agg(format('%L::float8 * ts_rank(t.niches_search, %L)', u.share, quote_literal(u.word)), ' + '),
    string_agg(format('%1$L::float8 * (m.text_search @@ %2$L or m.niches_search @@ %2$L)::int', u.share, quote_literal(u.word)), ' + ')
  into keyword_sum, niche_sum, held_sum
  from (select u.word, u.weight / sum(u.weight) over () as share from unnest(weighed.words, weighed.weights) u (word, weight)) u;

  -- the planner assumes unknown words are common enough to find by reading the table up to the limit; for this call only: the
  -- function's own setting is restored after it
  perform set_config('enable_seqscan', 'off', true);
  return query execute format(
    'select m.id, m.keyword, m.niche, m.combined, %s, %s'
    ' from ('
    '   select r.*, $3[1] * r.keyword + $3[2] * r.niche as combined from ('
    '     select t.id, t.text_search, t.niches_search, %s as keyword, %s as niche'
    '     from (select t.* from (select t.* from companies t where (t.text_search @@ $5 or t.niches_search @@ $5) %s limit %s) t where %s limit %s) t'
    '     where (t.text_search @@ $1 or t.niches_search @@ $1) and not (t.text_search @@ $4 or t.niches_search @@ $4) limit %s'
    '   ) r order by combined desc, r.id limit $2'
    ' ) m order by m.combined desc, m.id', held_sum, matched, keyword_sum, niche_sum, among, max_read, scope, max_looked_at, max_candidates)
    using some_words, p_limit - found, p_weights, asked.all_words, indexed;
end
$$;
