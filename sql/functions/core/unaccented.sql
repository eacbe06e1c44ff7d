-- A text without accents, and with letters such as œ, ß and ł spelled without them. It needs no extension, and keeps the case.
create or replace function unaccented(p_text text) returns text
language sql immutable parallel safe
as $$
  select case when octet_length(p_text) = length(p_text) then p_text else normalize(regexp_replace(normalize(
    translate(replace(replace(replace(p_text, 'œ', 'oe'), 'æ', 'ae'), 'ß', 'ss'), 'øłđðı', 'olddi'), nfd), '[\u0300-\u036f]+', '', 'g'), nfc) end
$$;
