-- The rows of a table that contain a word (a lexeme) best, best first, at most p_limit if given, after all rows whose text was written
-- since its champion list was made. Null if that is unknown: p_rows or fewer rows contain the word, or the texts of very many rows changed.
create or replace function champion_rows(p_table regclass, p_word text, p_limit int, p_rows int) returns text[]
language plpgsql stable
as $$
declare
  max_changed constant int := 500;
  best text[];
  changed text[];
begin
  select c.best_rows[:coalesce(p_limit, cardinality(c.best_rows))] into best
  from lexeme_counts c where c.lexeme = p_word and c.of_table = p_table::text and c.rows > p_rows;
  if best is not null then
    changed := array(select c.id from text_changes c where c.of_table = p_table::text limit max_changed + 1);
  end if;
  return case when cardinality(changed) <= max_changed then changed || best end;
end
$$;
