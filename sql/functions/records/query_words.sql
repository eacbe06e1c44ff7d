-- The distinct words (lexemes) of a query, rarest first, each with its idf in a table, and a tsquery for the rows worth ranking.
--
-- idf = ln(1 + (N − df + 0.5) / (df + 0.5)), BM25's; df is ANALYZE's estimate for the column text_search, where it has one, and
-- else that of the rarest word it knows. `candidates` takes single words, rarest first, then pairs of the remaining words,
-- while the rows expected of them stay within p_max_candidates; it always takes one. A pair is expected in 20 times as many
-- rows as if its words were independent, since words of one topic go together.
create or replace function query_words(
  p_table regclass, p_query text, p_max_words int, p_max_candidates double precision
) returns table (words text[], weights double precision[], candidates tsquery)
language plpgsql stable
as $$
declare
  co_occurrence constant float8 := 20;
  total float8;
  rarest float8;
  frequencies float8[];
  taken int := 0;
  budget float8 := p_max_candidates;
  expected float8;
  parts text[] := '{}';
begin
  -- quoted phrases and exclusions are handled by query_requirements; their words do not widen the search
  select array_agg(l.lexeme) into words
  from unnest(to_tsvector('english', regexp_replace(p_query, '(^|\s)-("[^"]*"?|\S+)', ' ', 'g'))) l;
  if words is null then
    return;
  end if;

  select greatest(c.reltuples, 1) into total from pg_class c where c.oid = p_table;
  with known as (
    select e.word, e.frequency
    from pg_stats s, unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs) with ordinality e (word, frequency, place)
    where s.schemaname = (select n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = p_table)
      and s.tablename = (select c.relname from pg_class c where c.oid = p_table)
      and s.attname = 'text_search' and e.word is not null
  ), counted as (
    select w.word, total * coalesce(k.frequency, (select min(known.frequency) from known), 0.001) as df
    from unnest(words) w (word) left join known k using (word)
    order by 2, 1 limit p_max_words
  )
  select array_agg(c.word order by c.df, c.word), array_agg(ln(1 + (total - c.df + 0.5) / (c.df + 0.5)) order by c.df, c.word),
    array_agg(greatest(1, c.df) order by c.df, c.word)
  into words, weights, frequencies from counted c;

  while taken < cardinality(words) loop
    exit when frequencies[taken + 1] > budget and taken > 0;
    taken := taken + 1;
    budget := budget - frequencies[taken];
    parts := parts || quote_literal(words[taken]);
    exit when budget <= 0;
  end loop;
  -- a first word that overruns the budget alone is better looked for in pairs
  if taken = 1 and budget < 0 and cardinality(words) > 1 then
    taken := 0;
    budget := p_max_candidates;
    parts := '{}';
  end if;
  for i in taken + 1 .. cardinality(words) - 1 loop
    for j in i + 1 .. cardinality(words) loop
      expected := least(frequencies[i], frequencies[j], co_occurrence * frequencies[i] * frequencies[j] / total);
      if expected <= budget or cardinality(parts) = 0 then
        budget := budget - expected;
        parts := parts || (quote_literal(words[i]) || ' & ' || quote_literal(words[j]));
      end if;
      exit when budget <= 0;
    end loop;
    exit when budget <= 0;
  end loop;
  candidates := array_to_string(parts, ' | ')::tsquery;
  return next;
end
$$;
