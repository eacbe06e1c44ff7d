-- The words of the rows of a table that the caller may see which are spelt nearly as one of some words, or begin with p_begun, and in how
-- many of the first p_rows rows they stand, for weigh_query. Of very long texts the first lexemes are compared. `p_seen` is as in seen_words.
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
