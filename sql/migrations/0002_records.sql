-- Civic records: meetings, and six types of record that are searched. Five have vectors; transcript segments are too many to embed
-- and are found by their words alone. `date` is the record's own, or its meeting's where the loader was given none.
-- `content_hash` changes with the text that is embedded; `embedded_hash` is the hash that the stored vectors were made from;
-- `refused_hash` is that of a text that the embedding model would not take, `refusals` times.

create table meetings (
  id text primary key,
  body text not null,
  title text not null,
  date date not null,
  started_at text,
  location text,
  attendees text[] not null default '{}',
  summary text,
  video_url text,
  minutes_url text
);
create index meetings_date on meetings (date);

create table matters (
  id text primary key,
  title text not null,
  matter_type text,
  status text,
  summary text,
  sponsors text[] not null default '{}',
  introduced_on date,
  decided_on date,
  meeting_id text references meetings,
  date date,
  url text,
  text_search tsvector not null generated always as (to_tsvector('english', joined_text(title, summary, matter_type, status, joined_names(sponsors)))) stored,
  content_hash text not null generated always as (md5(joined_text(title, summary))) stored,
  embedded_hash text,
  refused_hash text,
  refusals smallint not null default 0
);

create table agenda_items (
  id text primary key,
  meeting_id text references meetings,
  matter_id text references matters,
  item_number text,
  title text not null,
  description text,
  category text,
  date date,
  url text,
  text_search tsvector not null generated always as (to_tsvector('english', joined_text(title, description, category))) stored,
  content_hash text not null generated always as (md5(joined_text(title, description))) stored,
  embedded_hash text,
  refused_hash text,
  refusals smallint not null default 0
);

create table motions (
  id text primary key,
  meeting_id text references meetings,
  agenda_item_id text references agenda_items,
  matter_id text references matters,
  text_content text not null,
  plain_english_summary text,
  result text,
  mover text,
  seconder text,
  votes_for text[] not null default '{}',
  votes_against text[] not null default '{}',
  abstained text[] not null default '{}',
  date date,
  url text,
  text_search tsvector not null generated always as (to_tsvector('english', joined_text(
    plain_english_summary, text_content, result, mover, seconder, joined_names(votes_for), joined_names(votes_against), joined_names(abstained)))) stored,
  content_hash text not null generated always as (md5(joined_text(plain_english_summary, text_content))) stored,
  embedded_hash text,
  refused_hash text,
  refusals smallint not null default 0
);

create table document_sections (
  id text primary key,
  meeting_id text references meetings,
  matter_id text references matters,
  document_title text not null,
  document_type text,
  section_number int,
  heading text,
  body text not null,
  date date,
  url text,
  text_search tsvector not null generated always as (to_tsvector('english', joined_text(document_title, heading, body))) stored,
  content_hash text not null generated always as (md5(joined_text(heading, body))) stored,
  embedded_hash text,
  refused_hash text,
  refusals smallint not null default 0
);

create table key_statements (
  id text primary key,
  meeting_id text references meetings,
  agenda_item_id text references agenda_items,
  speaker_name text not null,
  speaker_role text,
  statement_text text not null,
  context text,
  stance text,
  date date,
  url text,
  text_search tsvector not null generated always as (to_tsvector('english', joined_text(statement_text, context, speaker_name, speaker_role))) stored,
  content_hash text not null generated always as (md5(joined_text(statement_text, context))) stored,
  embedded_hash text,
  refused_hash text,
  refusals smallint not null default 0
);

create table transcript_segments (
  id text primary key,
  meeting_id text references meetings,
  agenda_item_id text references agenda_items,
  speaker_name text,
  speaker_role text,
  text_content text not null,
  start_seconds double precision,
  end_seconds double precision,
  date date,
  url text,
  text_search tsvector not null generated always as (to_tsvector('english', joined_text(text_content, speaker_name))) stored
);

create index matters_text_search on matters using gin (text_search) with (fastupdate = off);
create index matters_date on matters (date);
create index matters_meeting_id on matters (meeting_id);
create index agenda_items_text_search on agenda_items using gin (text_search) with (fastupdate = off);
create index agenda_items_date on agenda_items (date);
create index agenda_items_meeting_id on agenda_items (meeting_id);
create index motions_text_search on motions using gin (text_search) with (fastupdate = off);
create index motions_date on motions (date);
create index motions_meeting_id on motions (meeting_id);
create index document_sections_text_search on document_sections using gin (text_search) with (fastupdate = off);
create index document_sections_date on document_sections (date);
create index document_sections_meeting_id on document_sections (meeting_id);
create index key_statements_text_search on key_statements using gin (text_search) with (fastupdate = off);
create index key_statements_date on key_statements (date);
create index key_statements_meeting_id on key_statements (meeting_id);
create index transcript_segments_text_search on transcript_segments using gin (text_search) with (fastupdate = off);
create index transcript_segments_date on transcript_segments (date);
create index transcript_segments_meeting_id on transcript_segments (meeting_id);
create index agenda_items_matter_id on agenda_items (matter_id);
create index motions_matter_id on motions (matter_id);
create index document_sections_matter_id on document_sections (matter_id);
create index motions_agenda_item_id on motions (agenda_item_id);
create index key_statements_agenda_item_id on key_statements (agenda_item_id);
create index transcript_segments_agenda_item_id on transcript_segments (agenda_item_id);

-- A text longer than the embedding model reads has a vector for each window of it, and is as near as its nearest window.

create table matter_embeddings (
  record_id text not null references matters on delete cascade,
  window_number smallint not null,
  embedding halfvec({{embedding_dimensions}}) not null,
  primary key (record_id, window_number)
);
alter table matter_embeddings alter column embedding set storage plain;
create index matter_embeddings_hnsw on matter_embeddings using hnsw (embedding halfvec_cosine_ops) with (ef_construction = 128);
create index matters_not_embedded on matters (id) where embedded_hash is distinct from content_hash;

create table agenda_item_embeddings (
  record_id text not null references agenda_items on delete cascade,
  window_number smallint not null,
  embedding halfvec({{embedding_dimensions}}) not null,
  primary key (record_id, window_number)
);
alter table agenda_item_embeddings alter column embedding set storage plain;
create index agenda_item_embeddings_hnsw on agenda_item_embeddings using hnsw (embedding halfvec_cosine_ops) with (ef_construction = 128);
create index agenda_items_not_embedded on agenda_items (id) where embedded_hash is distinct from content_hash;

create table motion_embeddings (
  record_id text not null references motions on delete cascade,
  window_number smallint not null,
  embedding halfvec({{embedding_dimensions}}) not null,
  primary key (record_id, window_number)
);
alter table motion_embeddings alter column embedding set storage plain;
create index motion_embeddings_hnsw on motion_embeddings using hnsw (embedding halfvec_cosine_ops) with (ef_construction = 128);
create index motions_not_embedded on motions (id) where embedded_hash is distinct from content_hash;

create table document_section_embeddings (
  record_id text not null references document_sections on delete cascade,
  window_number smallint not null,
  embedding halfvec({{embedding_dimensions}}) not null,
  primary key (record_id, window_number)
);
alter table document_section_embeddings alter column embedding set storage plain;
create index document_section_embeddings_hnsw on document_section_embeddings using hnsw (embedding halfvec_cosine_ops) with (ef_construction = 128);
create index document_sections_not_embedded on document_sections (id) where embedded_hash is distinct from content_hash;

create table key_statement_embeddings (
  record_id text not null references key_statements on delete cascade,
  window_number smallint not null,
  embedding halfvec({{embedding_dimensions}}) not null,
  primary key (record_id, window_number)
);
alter table key_statement_embeddings alter column embedding set storage plain;
create index key_statement_embeddings_hnsw on key_statement_embeddings using hnsw (embedding halfvec_cosine_ops) with (ef_construction = 128);
create index key_statements_not_embedded on key_statements (id) where embedded_hash is distinct from content_hash;

-- Finished answers, opened again by their unguessable id.
create table answer_cache (
  id text primary key,
  query text not null,
  answer text not null,
  sources jsonb not null,
  suggested_followups text[] not null default '{}',
  source_count int not null,
  confidence text not null check (confidence in ('high', 'medium', 'low')),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index answer_cache_expires_at on answer_cache (expires_at);
