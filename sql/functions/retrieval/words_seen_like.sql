-- The words in the rows of a table that the caller may see which are spelled almost like given words, or start with p_begun, and how many
-- of the first p_rows rows contain them, for weigh_query. Of very long texts, only the first lexemes. `p_seen` is as in seen_words.
create or replace function words_seen_like(p_table text, p_seen text, p_words text[], p_begun text, p_rows int)
returns table (lexeme text, rows int)
language plpgsql stable
set synchronize_seqscans = off
as $$
declare
  max_slips constant int := 2;
  max_lexemes constant int := 100000;
begin
  return query execute format(
    'select h.lexeme, h.rows from ('
    '  select u.lexeme, count(*)::int as rows'
    '  from (select u.lexeme from (select t.text_search from %s t where %s limit $3 offset 0) s, unnest(s.text_search) u limit $5) u'
    '  group by 1) h'
    ' where starts_with(h.lexeme, $2) or exists (select from unnest($1) w (word)'
    '   where abs(length(h.lexeme) - length(w.word)) <= $4 and levenshtein_less_equal(h.lexeme, w.word, $4) <= $4)',
    p_table::regclass, p_seen)
    using p_words, p_begun, p_rows, max_slips, max_lexemes;
end
$$;
