-- A regular expression for a text that holds one of `p_texts` as whole words, whatever characters are in it: Oman is not in Romania.
create or replace function word_pattern(p_texts text[]) returns text
language sql immutable parallel safe
as $$
  select '(^|\W)(' || string_agg(regexp_replace(btrim(u.text), '([^\w\s])', '\\\1', 'g'), '|') || ')(\W|$)'
  from unnest(p_texts) u (text)
$$;
