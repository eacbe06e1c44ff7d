-- What a word says in a table: in how many of its rows it stands. ANALYZE knows the commonest words only, and takes all others for
-- equally rare. Counted anew after loads and every day by count_lexemes.

create extension if not exists fuzzystrmatch;

create table lexeme_counts (
  lexeme text not null,
  of_table text not null,
  rows int not null,
  primary key (lexeme, of_table)
);
create index lexeme_counts_spelling on lexeme_counts using gin (lexeme gin_trgm_ops) with (fastupdate = off);

create table text_totals (
  of_table text primary key,
  rows bigint not null,
  lexemes bigint not null,
  counted_at timestamptz not null default now()
);
comment on column text_totals.lexemes is 'All lexemes of all rows, as often as they stand there';

-- A query as weigh_query reads it: what text_candidates ranks by.
create type weighed_query as (
  words text[],  -- rarest first
  weights double precision[],  -- how often the query says a word, times its idf
  mean_length double precision,  -- lexemes of a row
  possible double precision,  -- the score of a row that could not hold the words better
  required tsquery,  -- what a row must match: exclusions, negated, and phrases where they must hold
  near tsquery[],  -- pairs of words that stand side by side, and phrases in quotes
  near_weights double precision[]
);

-- A section is embedded with the title of its document.
alter table document_sections
  drop column content_hash,
  add column content_hash text not null generated always as (md5(joined_text(document_title, heading, body))) stored;
create index document_sections_not_embedded on document_sections (id) where embedded_hash is distinct from content_hash;

-- Transcripts are found by meaning too.
alter table transcript_segments
  add column content_hash text not null generated always as (md5(text_content)) stored,
  add column embedded_hash text,
  add column refused_hash text,
  add column refusals smallint not null default 0;

create table transcript_segment_embeddings (
  record_id text not null references transcript_segments on delete cascade,
  window_number smallint not null,
  embedding halfvec({{embedding_dimensions}}) not null,
  primary key (record_id, window_number)
);
alter table transcript_segment_embeddings alter column embedding set storage plain;
create index transcript_segment_embeddings_hnsw on transcript_segment_embeddings using hnsw (embedding halfvec_cosine_ops) with (ef_construction = 128);
create index transcript_segments_not_embedded on transcript_segments (id) where embedded_hash is distinct from content_hash;
