-- Companies, found by name, by words, by meaning and by the taxonomy they are filed under.
-- `content_hash`, `embedded_hash`, `refused_hash` and `refusals` are kept as in the tables of civic records.

-- A name without what people leave out or write differently: case, accents, spaces, punctuation; "&" is "and". The letters that
-- Unicode does not take apart are written as keyboards without them do. A name of nothing else stays as it is. Cut where an index
-- entry must end.
create function name_key(name text) returns text
language sql immutable parallel safe
return left(coalesce(nullif(regexp_replace(
  replace(replace(replace(replace(translate(
    normalize(lower(replace(name, '&', ' and ')), nfkd), 'øłđðħıŧ', 'olddhit'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'),
  '[^[:alnum:]]+', '', 'g'), ''), lower(btrim(name))), 200);

create function name_keys(names text[]) returns text[]
language sql immutable parallel safe
return (select coalesce(array_agg(distinct name_key(n.name)), '{}') from unnest(names) n (name));

-- The host of a web address, in lower case and without "www."; also of one that was given without its scheme.
create function website_domain(url text) returns text
language sql immutable parallel safe
return left(substring(lower(btrim(url)) from '^(?:[a-z][a-z0-9+.-]*://)?(?:[^/?#@]*@)?(?:www\.)?([^/?#:@\s]+)'), 255);

-- Where a company is filed, each place once, cut where a lexeme must end: one index serves sectors, categories and business models.
create function taxonomy_tags(sectors text[], categories text[], business_models text[]) returns text[]
language sql immutable parallel safe
return (
  select coalesce(array_agg(distinct left(t.tag, 200)), '{}')
  from (
    select 'sector:' || s.name from unnest(sectors) s (name)
    union all
    select 'category:' || c.name from unnest(categories) c (name)
    union all
    select 'business_model:' || b.name from unnest(business_models) b (name)
  ) t (tag)
  where t.tag is not null
);

-- What a search reads of many rows stands first: Postgres unpacks a row up to the last column that is asked for.
create table companies (
  id text primary key,
  status text not null default 'startup' check (status in ('startup', 'acquired', 'public', 'closed')),
  company_name text not null,
  text_search tsvector not null generated always as (
    setweight(to_tsvector('english', company_name), 'A')
    || setweight(to_tsvector('english', coalesce(tagline, '')), 'B')
    || setweight(to_tsvector('english', coalesce(description, '')), 'B')
    || setweight(to_tsvector('english', coalesce(product_description, '')), 'C')
    || setweight(to_tsvector('english', coalesce(target_customer, '')), 'C')
    || setweight(to_tsvector('english', coalesce(problem_solved, '')), 'D')
    || setweight(to_tsvector('english', coalesce(differentiator, '')), 'D')) stored,
  niches_search tsvector not null generated always as (to_tsvector('english', joined_names(niches))) stored,
  taxonomy_search tsvector not null generated always as (array_to_tsvector(taxonomy_tags(sectors, categories, business_models))) stored,
  name_key text not null generated always as (name_key(company_name)) stored,
  former_name_keys text[] not null generated always as (name_keys(former_names)) stored,
  domain text generated always as (website_domain(website_url)) stored,
  former_names text[] not null default '{}',
  tagline text,
  description text,
  product_description text,
  target_customer text,
  problem_solved text,
  differentiator text,
  niches text[] not null default '{}',
  sectors text[] not null default '{}',
  categories text[] not null default '{}',
  business_models text[] not null default '{}',
  website_url text,
  founded_year int,
  hq_city text,
  hq_country text,
  employee_count int,
  funding_stage text,
  total_funding_usd bigint,
  founders text[] not null default '{}',
  acquirer text,
  closed_year int,
  content_hash text not null generated always as (md5(joined_text(
    tagline, description, product_description, problem_solved, target_customer, differentiator, joined_names(niches), joined_names(categories)))) stored,
  embedded_hash text,
  refused_hash text,
  refusals smallint not null default 0
);
-- Searches read these of hundreds of rows, and the long texts of none: they stay in the row, the texts are moved out of it.
alter table companies alter column text_search set storage main;
alter table companies alter column niches_search set storage main;

create index companies_name_key on companies (name_key);
create index companies_former_name_keys on companies using gin (former_name_keys) with (fastupdate = off);
create index companies_company_name_trigrams on companies using gin (company_name gin_trgm_ops) with (fastupdate = off);
create index companies_domain on companies (domain);
create index companies_website_url_trigrams on companies using gin (website_url gin_trgm_ops) with (fastupdate = off);
create index companies_text_search on companies using gin (text_search) with (fastupdate = off);
create index companies_niches_search on companies using gin (niches_search) with (fastupdate = off);
create index companies_taxonomy_search on companies using gin (taxonomy_search) with (fastupdate = off);
create index companies_status on companies (status, id);
create index companies_hq_country on companies (lower(hq_country));
create index companies_hq_city on companies (lower(hq_city));
create index companies_funding_stage on companies (funding_stage);
create index companies_not_embedded on companies (id) where embedded_hash is distinct from content_hash;

-- A text longer than the embedding model reads has a vector for each window of it, and is as near as its nearest window.
create table company_embeddings (
  record_id text not null references companies on delete cascade,
  embedding_type text not null,
  window_number smallint not null,
  embedding halfvec({{embedding_dimensions}}) not null,
  primary key (record_id, embedding_type, window_number)
);
alter table company_embeddings alter column embedding set storage plain;
create index company_embeddings_searchable_profile_hnsw on company_embeddings using hnsw (embedding halfvec_cosine_ops)
  with (ef_construction = 128) where embedding_type = 'searchable_profile';
