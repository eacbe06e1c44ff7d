-- The passages of a text that contain words of a query, chosen by ts_headline with p_options, with the words between U+E000 and U+E001. The
-- caller turns these into markup after escaping the rest. Both characters are removed from the text itself. ts_headline drops tags: a
-- control character after each < ensures that there are none.
create or replace function marked_words(p_language regconfig, p_text text, p_query tsquery, p_options text) returns text
language sql stable parallel safe
as $$
  select replace(
    ts_headline(p_language, replace(translate(p_text, U&'\E000\E001\0001', ''), '<', U&'<\0001'), p_query,
      U&'StartSel=\E000, StopSel=\E001, ' || p_options),
    U&'\0001', '')
$$;
