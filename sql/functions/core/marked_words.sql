-- The passages of a text that hold words of a query, as ts_headline chooses them by p_options, the words between U+E000 and U+E001,
-- which the caller turns into markup after escaping the rest. The text itself is freed of both. ts_headline leaves tags out: behind
-- each < stands a control character here, so that there are none.
create or replace function marked_words(p_language regconfig, p_text text, p_query tsquery, p_options text) returns text
language sql stable parallel safe
as $$
  select replace(
    ts_headline(p_language, replace(translate(p_text, U&'\E000\E001\0001', ''), '<', U&'<\0001'), p_query,
      U&'StartSel=\E000, StopSel=\E001, ' || p_options),
    U&'\0001', '')
$$;
