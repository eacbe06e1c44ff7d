-- The words (lexemes) that no row of the tables contains in text_search. `p_seen` has for each table the condition that the caller may see
-- a row `t`, as SQL built by the service; null if all may be seen.
create or replace function unwritten(p_tables text[], p_words text[], p_seen text[] default '{}') returns text[]
language plpgsql stable
set enable_seqscan = off  -- the planner does not know how rare they are
as $$
declare
  words text[] := p_words;
begin
  for place in 1 .. coalesce(cardinality(p_tables), 0) loop
    execute format('select array(select w.word from unnest($1) w (word)'
      ' where not exists (select from %s t where t.text_search @@ quote_literal(w.word)::tsquery and (%s)))',
      p_tables[place]::regclass, coalesce(p_seen[place], 'true'))
      into words using words;
    exit when words = '{}';
  end loop;
  return words;
end
$$;
