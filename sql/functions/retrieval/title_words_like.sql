-- The beginnings of words that a word typed in part may have been meant as: of about its length, spelled with one slip (two from six letters
-- on), those with the fewest slips and then the commonest first. They are looked for in titles that begin a word with the same two letters,
-- the first max_rows, and among the words of the table that are counted.
--
-- p_seen is the condition that the caller may see a row `t` of the table, as SQL built by the service; null for all rows. Words are counted
-- over all rows: they serve only a caller who may see all.
create or replace function title_words_like(p_table regclass, p_titles text, p_seen text, p_word text) returns text[]
language plpgsql stable
set pg_trgm.word_similarity_threshold = 0.4
set enable_seqscan = off
as $$
declare
  shortest constant int := 4;
  longest_one_slip constant int := 5;
  same_letters constant int := 2;
  most constant int := 4;
  max_rows constant int := 1000;
  slips constant int := case when length(p_word) <= longest_one_slip then 1 else 2 end;
  likely text[];
begin
  if length(p_word) < shortest or has_paired_letters(p_word) then
    return '{}';
  end if;
  execute format('
    select array_agg(b.beginning)
    from (
      select left(w.word, length($1)) as beginning
      from (%1$s union all
        select u.lexeme, count(*) from (select %2$s as titles from %3$s t where %2$s @@ $4 %4$s limit %5$s) s, unnest(s.titles) u
        where starts_with(u.lexeme, $5) group by 1) w (word, rows), lateral (
        select min(levenshtein_less_equal(left(w.word, length($1) + d.more), $1, $2)) as slips from generate_series(-1, 1) d (more)) s
      where s.slips <= $2
      group by 1 order by min(s.slips), sum(w.rows) desc, 1 limit %6$s
    ) b',
    case when p_seen is null then 'select c.lexeme, c.rows from lexeme_counts c where $1 <% c.lexeme and c.of_table = $3' else 'select null::text, 0' end,
    p_titles, p_table, 'and (' || p_seen || ')', max_rows, most)
    into likely using p_word, slips, p_table::text, (quote_literal(left(p_word, same_letters)) || ':*')::tsquery, left(p_word, same_letters);
  return coalesce(likely, '{}');
end
$$;
