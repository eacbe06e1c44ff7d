-- The rows of a table that hold a word (a lexeme) best, best first, at most p_limit: as text_candidates ranks them for that word alone,
-- where a row has p_mean_length lexemes on average.
create or replace function holding_best(p_table regclass, p_word text, p_mean_length double precision, p_limit int) returns text[]
language plpgsql stable
set enable_seqscan = off  -- what a text holds is dearer to look for row by row than the planner knows
as $$
declare
  b constant float8 := 0.75;
  word constant tsquery := quote_literal(p_word)::tsquery;
  best text[];
begin
  execute format('
    select array(
      select h.id
      from (select t.id, setweight(t.text_search, ''D'') as words from %s t where t.text_search @@ $1 offset 0) h
      order by times_held(h.words, $1) / (1 - $2 + $2 * lexemes_held(h.words) / $3) desc, h.id limit $4)', p_table)
    into best using word, b, p_mean_length, p_limit;
  return best;
end
$$;
