-- The part of a query that the index on text_search of a table can look up by reading at most p_max_postings entries: its rarest words
-- first, then its exclusions, in the order of the query; every row that matches the query matches this. A query of few words, or of
-- alternatives, is looked up by all of its words (index_query).
create or replace function bounded_index_query(p_table regclass, p_query tsquery, p_max_postings double precision) returns tsquery
language plpgsql stable
as $$
declare
  few_words constant int := 3;
  indexed constant tsquery := index_query(p_query);
  excluded constant text[] := array(select m.word[1] from regexp_matches(p_query::text, $re$(?:^| )!('(?:[^']|'')+')$re$, 'g') m (word));
  words text[];
begin
  if p_query::text like '%|%' or excluded = '{}' and numnode(indexed) < 2 * few_words then
    return indexed;
  end if;
  words := array(select m.word[1] from regexp_matches(indexed::text, $re$'(?:[^']|'')+'$re$, 'g') m (word));
  return (
    select string_agg(case when t.is_excluded then '!' else '' end || t.word, ' & ' order by t.place)::tsquery
    from (
      select w.word, w.is_excluded, row_number() over in_order as place, sum(w.rows) over in_order as so_far
      from (
        select u.word, u.place > cardinality(words) as is_excluded, coalesce(c.rows, 1) as rows, u.place
        from unnest(words || excluded) with ordinality u (word, place)
        left join lexeme_counts c on c.lexeme = replace(btrim(u.word, ''''), '''''', '''') and c.of_table = p_table::text
      ) w
      window in_order as (order by w.is_excluded, case when not w.is_excluded then w.rows end, w.place)
    ) t
    where t.so_far <= p_max_postings or t.place = 1);
end
$$;
