-- A passage of a text that holds words of a query. The words stand between U+E000 and U+E001, which the caller turns into markup after
-- escaping the rest; the text itself is freed of both. They are looked for in its first 20,000 characters, as rows in p_language
-- hold them; null: as our own tables do (see asked_words).
create or replace function record_snippet(p_body text, p_query text, p_language regconfig default null) returns text
language sql stable
as $$
  select ts_headline(coalesce(p_language, 'english'), b.body, w.any_word,
    U&'StartSel=\E000, StopSel=\E001, MaxFragments=2, MinWords=10, MaxWords=28, FragmentDelimiter=" … "')
  from (select translate(left(p_body, 20000), U&'\E000\E001', '') as body) b,
    (select (read_query(p_query, p_language)).words[:16] as words) q, lateral (
      select coalesce(string_agg(quote_literal(l.lexeme), ' | '), '')::tsquery as any_word
      from (
        select unnest(q.words) as lexeme
        union
        -- what is marked are the text's own words, with their accents
        select l.lexeme from unnest(to_tsvector('simple', b.body)) s, unnest(to_tsvector(p_language, s.lexeme)) l
        where p_language is not null and octet_length(s.lexeme) > length(s.lexeme)
          and tsvector_to_array(text_words(p_language, s.lexeme)) && q.words
      ) l
    ) w
$$;
