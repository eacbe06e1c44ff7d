-- Titles are found by their first letters while somebody types (suggested_titles): each row of words has the words of its title as they are
-- written, since the beginning of a word is not that of its stem ("organiz", of "organization", whose stem is "organ").

-- As in functions/core, which makes it anew: what an index is made of must be there before.
create or replace function unaccented(p_text text) returns text
language sql immutable parallel safe
as $$
  select case when octet_length(p_text) = length(p_text) then p_text else normalize(regexp_replace(normalize(
    translate(replace(replace(replace(p_text, 'œ', 'oe'), 'æ', 'ae'), 'ß', 'ss'), 'øłđðı', 'olddi'), nfd), '[\u0300-\u036f]+', '', 'g'), nfc) end
$$;

-- The words of a title: in lower case, without accents, not stemmed. Of a long one, those of its beginning.
create function title_words(p_title text) returns tsvector
language sql immutable parallel safe
return to_tsvector('simple', unaccented(lower(paired_letters(left(p_title, 300)))));

alter table collection_rows add column titles tsvector;
create index collection_rows_titles on collection_rows using gin (titles) with (fastupdate = off);

create index motions_titles on motions using gin (title_words(joined_text(variadic array[plain_english_summary]))) with (fastupdate = off);
create index agenda_items_titles on agenda_items using gin (title_words(joined_text(variadic array[title]))) with (fastupdate = off);
create index matters_titles on matters using gin (title_words(joined_text(variadic array[title]))) with (fastupdate = off);
create index document_sections_titles on document_sections
  using gin (title_words(joined_text(variadic array[document_title, heading]))) with (fastupdate = off);
create index key_statements_titles on key_statements
  using gin (title_words(joined_text(variadic array[speaker_name, speaker_role]))) with (fastupdate = off);
create index transcript_segments_titles on transcript_segments
  using gin (title_words(joined_text(variadic array[speaker_name, speaker_role]))) with (fastupdate = off);
