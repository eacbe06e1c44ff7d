-- The passages of a text that contain words of a query, chosen by ts_headline with p_options, with the words between U+E000 and U+E001. The
-- caller turns these into markup after escaping the rest. Both characters are removed from the text itself. ts_headline drops tags: a
-- control character after each < ensures that there are none.
--
-- A text in a script that is searched by pairs of letters (paired_letters) has no words that ts_headline could choose by: its passage is
-- the one with most words and pairs (best_passage). The letters of the pairs are marked in it, and words between such letters.
create or replace function marked_words(p_language regconfig, p_text text, p_query tsquery, p_options text) returns text
language sql stable parallel safe
as $$
  select replace(case when p.marks is null then h.headline else
    replace(replace(regexp_replace(h.headline, '(?:' || p.marks || ')+', U&'\E000\\&\E001', 'gi'), U&'\E000\E000', U&'\E000'), U&'\E001\E001', U&'\E001')
    end, U&'\0001', '')
  from (
    select array_agg(case when l.letters is null then '\m' || x.word else x.word end) as patterns,
      string_agg(case
        when l.letters is null then format('(?<![a-z0-9])%1$s(?![a-z0-9])', x.word)
        when cardinality(l.letters) = 1 then l.letters[1]
        else format('%1$s(?=%2$s)|(?<=%1$s)%2$s', l.letters[1], l.letters[2]) end, '|') as marks
    from regexp_matches(case when has_paired_letters(p_text) then p_query::text end, $re$'((?:[^']|'')+)'$re$, 'g') m (quoted),
      lateral (select regexp_replace(replace(m.quoted[1], '''''', ''''), '([[:punct:]])', '\\\1', 'g') as word) x,
      lateral (select array_agg(r.letter) as letters from letters_of_run(case when has_paired_letters(x.word) then x.word end) r (letter)) l
  ) p,
  lateral (
    select case when not has_paired_letters(p_text) then p_options else 'HighlightAll=true' end as options,
      case when not has_paired_letters(p_text) or p_options like '%HighlightAll%' then p_text
        else best_passage(p_text, coalesce(p.patterns, '{}')) end as passage
  ) t,
  lateral (
    select ts_headline(p_language, replace(translate(t.passage, U&'\E000\E001\0001', ''), '<', U&'<\0001'), p_query,
      U&'StartSel=\E000, StopSel=\E001, ' || t.options) as headline
  ) h
$$;
