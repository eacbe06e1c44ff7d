-- Rows of a table whose titles hold all that was typed: each word, or the beginning of one. First those of p_ranked, in its order, then
-- others, those with the shortest titles first. Where no title holds all, those of p_ranked with a title that holds any: these are not
-- whole. A word that no title begins with is read as words that begin almost so (title_words_like). Stop words of p_language count only as
-- the last word.
--
-- p_titles is the expression of a row `t` that its index of titles is made of, p_filter an SQL condition on such a row, null for all rows,
-- and p_seen the one that the caller may see it (title_words_like). They are built by the service.
create or replace function suggested_titles(
  p_table regclass, p_titles text, p_query text, p_ranked text[], p_limit int, p_filter text default null, p_seen text default null,
  p_language regconfig default 'english'
) returns table (id text, is_whole boolean)
language plpgsql stable
set enable_seqscan = off
as $$
declare
  max_words constant int := 8;
  shortest constant int := 2;  -- letters; a single letter begins too many words
  max_read constant int := 20 * p_limit;
  typed constant text[] := array(
    select w.lexeme from unnest(title_words(left(p_query, 300))) w
    where length(w.lexeme) >= shortest or has_paired_letters(w.lexeme) order by w.positions[1]);
  of_ranked constant text := format(
    'select r.id, $4 from unnest($2) with ordinality r (id, place) join %s t on t.id = r.id where %s @@ $1 order by r.place limit $3',
    p_table, p_titles);
  word text;
  known boolean;
  part text;
  parts text[] := '{}';
  listed int;
  others int := 0;
begin
  foreach word in array typed[:max_words] loop
    continue when word <> typed[cardinality(typed)] and to_tsvector(p_language, word) = '';
    part := quote_literal(word) || ':*';
    execute format('select exists (select from %s t where %s @@ $1 %s)', p_table, p_titles, 'and (' || p_seen || ')') into known using part::tsquery;
    if not known then
      select string_agg(quote_literal(l.word) || ':*', ' | ') into part from unnest(title_words_like(p_table, p_titles, p_seen, word)) l (word);
    end if;
    parts := parts || format('(%s)', coalesce(part, quote_literal(word)));
  end loop;
  if parts = '{}' then
    return;
  end if;
  return query execute of_ranked using array_to_string(parts, ' & ')::tsquery, p_ranked, p_limit, true;
  get diagnostics listed = row_count;
  if listed < p_limit then
    return query execute format(
      'select s.id, true from (select t.id, length(%1$s) as words from %2$s t where %1$s @@ $1 and not t.id = any($2) %3$s limit %4$s) s
       order by s.words, s.id limit $3', p_titles, p_table, 'and (' || p_filter || ')', max_read)
      using array_to_string(parts, ' & ')::tsquery, p_ranked, p_limit - listed;
    get diagnostics others = row_count;
  end if;
  if listed + others = 0 then
    return query execute of_ranked using array_to_string(parts, ' | ')::tsquery, p_ranked, p_limit, false;
  end if;
end
$$;
