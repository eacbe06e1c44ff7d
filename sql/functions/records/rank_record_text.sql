-- The text-ranking half of records search, for one table: the rows whose words match, best first.
--
-- Rows that hold every word (as websearch_to_tsquery reads the query: quotes, or, -not) come first, by ts_rank_cd. A question
-- rarely has such a row, so where they are fewer than half of p_limit the list goes on with rows that hold some of the words, by
-- Σ idf(word) · ts_rank(row, word) / ln(1 + distinct words of the row): rare words count most, and a long row is not preferred.
-- What the query excludes (-word) or quotes ("a phrase") still holds.
--
-- Document frequencies come from ANALYZE's own statistics of the column, so there is nothing to maintain. Common words alone
-- would match most of a large table; candidates are therefore gathered rarest word first, then by pairs of common words, until
-- their expected number reaches max_candidates.
--
-- The work does not depend on the query: of the rows that hold its words at most max_looked_at are looked at, to see whether they
-- hold its phrases too and nothing that it excludes, and at most max_ranked_words / words of those that match are ranked; both in
-- the order in which the rows are stored.
--
-- Where p_ids is given, only these rows are looked at.
--
-- text_score is comparable between tables: 1 to 2 for rows with every word, below 1 for the others.
create or replace function rank_record_text(
  p_table regclass, p_query text, p_limit int, p_from date default null, p_to date default null,
  p_ids text[] default null
) returns table (id text, text_score double precision)
language plpgsql stable
set synchronize_seqscans = off
as $$
declare
  max_looked_at constant int := 6000;
  max_ranked_words constant int := 5000;
  max_candidates constant int := 30 * p_limit;  -- rows with some of the words that are ranked at most
  max_words constant int := 8;  -- rarest words of a long question that are looked at
  in_scope constant text := case when p_from is null and p_to is null then ''
    else ' and r.date >= coalesce($3, ''-infinity'') and r.date <= coalesce($4, ''infinity'')' end
    || case when p_ids is null then '' else ' and r.id = any($6)' end;
  asked constant record := read_query(p_query);
  max_matches constant int := greatest(p_limit, max_ranked_words / greatest(1, cardinality(asked.words)));
  words text[];
  weights float8[];
  some_words tsquery;
  found int;
begin
  if numnode(asked.all_words) = 0 then
    return;
  end if;

  return query execute format(
    'select m.id, 1 + m.rank / (1 + m.rank) from ('
    '  select r.id, ts_rank_cd(r.text_search, $1)::float8 as rank'
    '  from (select r.id, r.text_search from %s r where r.text_search @@ $5%s limit %s) r where r.text_search @@ $1 limit %s'
    ') m order by m.rank desc, m.id limit $2', p_table, in_scope, max_looked_at, max_matches)
    using asked.all_words, p_limit, p_from, p_to, index_query(asked.all_words), p_ids;
  get diagnostics found = row_count;
  if 2 * found >= p_limit then
    return;
  end if;

  -- of given rows none is too common
  select w.words, w.weights, w.candidates into words, weights, some_words
  from weigh_words(p_table, asked.words, max_words, case when p_ids is null then max_candidates else 2147483647 end) w;
  if some_words is null then
    return;
  end if;
  if numnode(asked.required) > 0 then
    some_words := some_words && asked.required;
  end if;

  return query execute format(
    'select m.id, least(0.999, m.rank) from ('
    '  select r.id, (%s) / (%s * ln((1 + length(r.text_search))::float8)) as rank'
    '  from (select r.id, r.text_search from %s r where r.text_search @@ $7%s limit %s) r'
    '  where r.text_search @@ $1 and not r.text_search @@ $5 limit %s'
    ') m order by m.rank desc, m.id limit $2',
    (select string_agg(format('%s * ts_rank(r.text_search, %L::tsquery)', u.weight, quote_literal(u.word)), ' + ')
     from unnest(words, weights) u (word, weight)),
    -- ts_rank of one word stays below 0.1 however often it occurs
    (select 0.1 * sum(u.weight) from unnest(weights) u (weight)),
    p_table, in_scope, max_looked_at, max_candidates)
    using some_words, p_limit - found, p_from, p_to, asked.all_words, p_ids, index_query(some_words);
end
$$;
