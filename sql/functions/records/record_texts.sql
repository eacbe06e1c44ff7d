-- What a reader sees of a record of any type: a title, a text, and the topic that it belongs to (its matter, else its agenda item).
create or replace view record_texts (type, id, title, body, topic, speaker, date, meeting_id, url) as
select 'motion', m.id, coalesce(m.plain_english_summary, left(m.text_content, 160)),
  joined_text(
    m.plain_english_summary,
    'Result: ' || m.result || case when cardinality(m.votes_against) > 0 then '. Against: ' || joined_names(m.votes_against) else '' end
      || case when cardinality(m.abstained) > 0 then '. Abstained: ' || joined_names(m.abstained) else '' end || '.',
    m.text_content, 'Moved by ' || m.mover || coalesce(', seconded by ' || m.seconder, '') || '.',
    case when cardinality(m.votes_for) > 0 then 'For: ' || joined_names(m.votes_for) || '.' end),
  coalesce(t.title, a.title), null, m.date, m.meeting_id, m.url
from motions m left join matters t on t.id = m.matter_id left join agenda_items a on a.id = m.agenda_item_id
union all
select 'agenda_item', a.id, a.title, coalesce(a.description, a.title), coalesce(t.title, a.title), null, a.date, a.meeting_id, a.url
from agenda_items a left join matters t on t.id = a.matter_id
union all
select 'matter', t.id, t.title, joined_text(t.summary, 'Status: ' || t.status || '.'), t.title, null, t.date, t.meeting_id, t.url
from matters t
union all
select 'document_section', d.id, d.document_title || coalesce(': ' || d.heading, ''), d.body, coalesce(t.title, d.document_title), null, d.date, d.meeting_id, d.url
from document_sections d left join matters t on t.id = d.matter_id
union all
select 'key_statement', k.id, k.speaker_name || coalesce(', ' || k.speaker_role, ''), joined_text(regexp_replace(k.statement_text, '\s*\n\s*', ' ', 'g'), k.context),
  coalesce(t.title, a.title), k.speaker_name, k.date, k.meeting_id, k.url
from key_statements k left join agenda_items a on a.id = k.agenda_item_id left join matters t on t.id = a.matter_id
union all
select 'transcript_segment', s.id, coalesce(s.speaker_name, 'Unnamed speaker') || coalesce(', ' || s.speaker_role, ''), s.text_content,
  coalesce(t.title, a.title), s.speaker_name, s.date, s.meeting_id, s.url
from transcript_segments s left join agenda_items a on a.id = s.agenda_item_id left join matters t on t.id = a.matter_id;
