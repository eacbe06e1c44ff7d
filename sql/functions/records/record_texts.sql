-- Written by tools/generate.py from the types of record.
-- What a reader sees of a record of any type: a title, a text, and the topic that it belongs to.
create or replace view record_texts (type, id, title, body, topic, speaker, date, meeting_id, url) as
select 'motion', r.id, coalesce(r.plain_english_summary, left(r.text_content, 160)),
  joined_text(r.plain_english_summary,
    'Result: ' || r.result
      || case when cardinality(r.votes_against) > 0 then '. Against: ' || joined_names(r.votes_against) else '' end
      || case when cardinality(r.abstained) > 0 then '. Abstained: ' || joined_names(r.abstained) else '' end || '.',
    r.text_content, 'Moved by ' || r.mover || coalesce(', seconded by ' || r.seconder, '') || '.',
    case when cardinality(r.votes_for) > 0 then 'For: ' || joined_names(r.votes_for) || '.' end),
  coalesce(t.title, a.title), null, r.date, r.meeting_id, r.url
from motions r left join agenda_items a on a.id = r.agenda_item_id left join matters t on t.id = r.matter_id
union all
select 'agenda_item', r.id, r.title,
  coalesce(r.description, r.title),
  coalesce(t.title, r.title), null, r.date, r.meeting_id, r.url
from agenda_items r left join matters t on t.id = r.matter_id
union all
select 'matter', r.id, r.title,
  joined_text(r.summary, 'Status: ' || r.status || '.'),
  r.title, null, r.date, r.meeting_id, r.url
from matters r
union all
select 'document_section', r.id, r.document_title || coalesce(': ' || r.heading, ''),
  r.body,
  coalesce(t.title, r.document_title), null, r.date, r.meeting_id, r.url
from document_sections r left join matters t on t.id = r.matter_id
union all
select 'key_statement', r.id, r.speaker_name || coalesce(', ' || r.speaker_role, ''),
  joined_text(regexp_replace(r.statement_text, '\s*\n\s*', ' ', 'g'), r.context),
  coalesce(t.title, a.title), r.speaker_name, r.date, r.meeting_id, r.url
from key_statements r left join agenda_items a on a.id = r.agenda_item_id left join matters t on t.id = a.matter_id
union all
select 'transcript_segment', r.id, coalesce(r.speaker_name, 'Unnamed speaker') || coalesce(', ' || r.speaker_role, ''),
  r.text_content,
  coalesce(t.title, a.title), r.speaker_name, r.date, r.meeting_id, r.url
from transcript_segments r left join agenda_items a on a.id = r.agenda_item_id left join matters t on t.id = a.matter_id;
