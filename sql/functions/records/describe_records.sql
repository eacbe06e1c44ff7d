-- The titles, texts and snippets of the records named by (type, id), in that order. In a snippet the matched words stand between
-- U+E000 and U+E001, which the caller turns into markup after escaping the rest; the text itself is freed of both. They are looked
-- for in the first 20,000 characters of a text.
create or replace function describe_records(p_types text[], p_ids text[], p_query text) returns table (
  type text, id text, title text, body text, topic text, speaker text, date date, meeting_id text, url text, snippet text
)
language sql stable
as $$
  with words as (
    select coalesce(string_agg(quote_literal(l.lexeme), ' | '), '')::tsquery as any_word
    from unnest((read_query(p_query)).words[:16]) l (lexeme)
  )
  select r.*, ts_headline('english', translate(left(r.body, 20000), U&'\E000\E001', ''), w.any_word,
    U&'StartSel=\E000, StopSel=\E001, MaxFragments=2, MinWords=10, MaxWords=28, FragmentDelimiter=" … "')
  from words w, unnest(p_types, p_ids) with ordinality k (type, id, place),
    -- one index probe a record: the type is compared before the tables of other types are touched
    lateral (select * from record_texts t where t.type = k.type and t.id = k.id offset 0) r
  order by k.place
$$;
