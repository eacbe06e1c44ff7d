-- A word (lexeme) as written except for singular and plural, as the text of a tsquery: "physics" is not "physical", nor is "manager"
-- "management", although they share their stems.
create or replace function said_word(p_lexeme text) returns text
language sql immutable parallel safe
as $$
  select '(' || string_agg(distinct quote_literal(f.form), ' | ') || ')'
  from unnest(array[
    p_lexeme, p_lexeme || 's', p_lexeme || 'es', regexp_replace(p_lexeme, 's$', ''), regexp_replace(p_lexeme, 'es$', ''),
    regexp_replace(p_lexeme, 'y$', 'ies'), regexp_replace(p_lexeme, 'ies$', 'y')]) f (form)
  where f.form <> ''
$$;
