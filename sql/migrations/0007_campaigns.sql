-- Marketing campaigns. The search vector holds the copy and nothing else, so that "mentions" means what it says; what a campaign is
-- about is found by its vectors, one kind for each field that people ask about. Content and embedded hashes as for civic records.

create table campaigns (
  id text primary key,
  company text not null,
  brand text,
  channel text not null,
  offer text,
  key_value_props text[] not null default '{}',
  imagery_sentiment text,
  imagery_visual_style text,
  capture_date date,
  campaign_text text not null,
  full_campaign_text text,
  url text,
  text_search tsvector not null generated always as (to_tsvector('english', joined_text(campaign_text, full_campaign_text))) stored,
  content_hash text not null generated always as (md5(joined_text(
    company, brand, channel, offer, joined_names(key_value_props), imagery_sentiment, imagery_visual_style, campaign_text, full_campaign_text))) stored,
  embedded_hash text,
  refused_hash text,
  refusals smallint not null default 0
);
create index campaigns_text_search on campaigns using gin (text_search) with (fastupdate = off);
create index campaigns_key_value_props on campaigns using gin (key_value_props) with (fastupdate = off);
create index campaigns_capture_date on campaigns (capture_date desc nulls last, id);
create index campaigns_company on campaigns (company);
create index campaigns_brand on campaigns (brand);
create index campaigns_channel on campaigns (channel);
create index campaigns_imagery_sentiment on campaigns (imagery_sentiment);
create index campaigns_imagery_visual_style on campaigns (imagery_visual_style);
create index campaigns_not_embedded on campaigns (id) where embedded_hash is distinct from content_hash;

create table campaign_embeddings (
  record_id text not null references campaigns on delete cascade,
  embedding_type text not null check (embedding_type in ('profile', 'campaign_text', 'offer', 'key_value_props')),
  window_number smallint not null,
  embedding halfvec({{embedding_dimensions}}) not null,
  primary key (record_id, embedding_type, window_number)
);
alter table campaign_embeddings alter column embedding set storage plain;
-- one index for each kind: a walk through one that holds all kinds would mostly meet vectors of the others
create index campaign_embeddings_profile on campaign_embeddings using hnsw (embedding halfvec_cosine_ops)
  with (ef_construction = 128) where embedding_type = 'profile';
create index campaign_embeddings_campaign_text on campaign_embeddings using hnsw (embedding halfvec_cosine_ops)
  with (ef_construction = 128) where embedding_type = 'campaign_text';
create index campaign_embeddings_offer on campaign_embeddings using hnsw (embedding halfvec_cosine_ops)
  with (ef_construction = 128) where embedding_type = 'offer';
create index campaign_embeddings_key_value_props on campaign_embeddings using hnsw (embedding halfvec_cosine_ops)
  with (ef_construction = 128) where embedding_type = 'key_value_props';
