-- The forms of which some row of the tables holds all words (lexemes) in text_search: "gall bladder" where one has both. The rows are in
-- p_language (see said_words). `p_seen` is as in unwritten. A form without a word is held by none.
create or replace function forms_held(p_tables text[], p_forms text[], p_language regconfig, p_seen text[] default '{}') returns text[]
language plpgsql stable
set enable_seqscan = off  -- the planner does not know how rare they are
as $$
declare
  held text[] := '{}';
  here text[];
begin
  for place in 1 .. coalesce(cardinality(p_tables), 0) loop
    execute format('select array(select f.form from unnest($1) f (form), lateral (select string_agg(quote_literal(w.lexeme), '' & '')::tsquery as said'
      ' from unnest(said_words($2, f.form)) w) q where q.said is not null and not f.form = any($3)'
      ' and exists (select from %s t where t.text_search @@ q.said and (%s)))', p_tables[place]::regclass, coalesce(p_seen[place], 'true'))
      into here using p_forms, p_language, held;
    held := held || here;
  end loop;
  return held;
end
$$;
