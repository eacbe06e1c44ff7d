-- A passage of a text that holds any of some words. The words stand between U+E000 and U+E001, which the caller turns into markup after
-- escaping the rest; the text itself is freed of both. They are looked for in its first 20,000 characters.
create or replace function record_snippet(p_body text, p_any_word tsquery) returns text
language sql stable
as $$
  select ts_headline('english', translate(left(p_body, 20000), U&'\E000\E001', ''), p_any_word,
    U&'StartSel=\E000, StopSel=\E001, MaxFragments=2, MinWords=10, MaxWords=28, FragmentDelimiter=" … "')
$$;
