-- A passage of a text with some words, which are marked in it (see marked_words); without any of them, the first MinWords words. Searches
-- the first 20,000 characters, for words of rows in p_language; null: of our own tables (see asked_words).
create or replace function record_snippet(p_body text, p_words text[], p_language regconfig) returns text
language sql stable
as $$
  select marked_words(coalesce(p_language, 'english'), b.body, w.any_word,
    'MaxFragments=2, MinWords=27, MaxWords=28, FragmentDelimiter=" … "')
  from (select left(p_body, 20000) as body) b, lateral (
      select coalesce(string_agg(quote_literal(l.lexeme), ' | '), '')::tsquery as any_word
      from (
        select unnest(p_words) as lexeme
        union
        -- mark the text's own words, with their accents
        select l.lexeme from unnest(to_tsvector('simple', b.body)) s, unnest(to_tsvector(p_language, s.lexeme)) l
        where p_language is not null and octet_length(s.lexeme) > length(s.lexeme) and not has_paired_letters(s.lexeme)
          and tsvector_to_array(text_words(p_language, s.lexeme)) && p_words
      ) l
    ) w
$$;
