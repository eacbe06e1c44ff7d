-- Recipes, each with its words, and a vector for each window of its text.
create table recipes (
  id text primary key,
  title text not null,
  cuisine text,
  ingredients text[] not null default '{}',
  method text not null,
  minutes int,
  added_on date,
  text_search tsvector not null generated always as (to_tsvector('english', joined_text(title, joined_names(ingredients), method))) stored,
  content_hash text not null generated always as (md5(joined_text(title, joined_names(ingredients), method))) stored,
  embedded_hash text,
  refused_hash text,
  refusals smallint not null default 0
);
create index recipes_text_search on recipes using gin (text_search) with (fastupdate = off);
create index recipes_ingredients on recipes using gin (ingredients) with (fastupdate = off);
create index recipes_cuisine on recipes (cuisine);
create index recipes_minutes on recipes (minutes);
create index recipes_added_on on recipes (added_on);
create index recipes_not_embedded on recipes (id) where embedded_hash is distinct from content_hash;

create table recipes_embeddings (
  record_id text not null references recipes on delete cascade,
  window_number smallint not null,
  embedding halfvec({{embedding_dimensions}}) not null,
  primary key (record_id, window_number)
);
alter table recipes_embeddings alter column embedding set storage plain;
create index recipes_embeddings_hnsw on recipes_embeddings using hnsw (embedding halfvec_cosine_ops) with (ef_construction = 128);
