-- Those of some words (lexemes) that no row of the tables holds in text_search.
create or replace function unwritten(p_tables text[], p_words text[]) returns text[]
language plpgsql stable
set enable_seqscan = off  -- how rare they are nothing tells the planner
as $$
declare
  of_table text;
  words text[] := p_words;
begin
  foreach of_table in array p_tables loop
    execute format('select array(select w.word from unnest($1) w (word)'
      ' where not exists (select from %s r where r.text_search @@ quote_literal(w.word)::tsquery))', of_table::regclass)
      into words using words;
    exit when words = '{}';
  end loop;
  return words;
end
$$;
