-- People: who they are, what they look for and how to reach them; their experience, one card each; and aspects of an experience,
-- the card's children. Cards and children are embedded, people are not.
-- Columns named *_norm are what names are compared by: lower case, trimmed. The other technical columns are as in 0002.

create function lowered_names(names text[]) returns text[]
language sql immutable parallel safe
return array(select lower(btrim(name)) from unnest(names) name);

-- Names of programming languages that the text parser would cut down to their letter.
create function searchable_text(variadic parts text[]) returns text
language sql immutable parallel safe
return regexp_replace(regexp_replace(joined_text(variadic parts), '\m(c)\+\+', '\1plusplus', 'gi'), '\m([cfj])#', '\1sharp', 'gi');

-- The words of places, as they stand: "Bangalore/Remote" is no path, "Pune-411001" no compound.
create function place_words(place text) returns tsvector
language sql immutable parallel safe
return to_tsvector('simple', regexp_replace(place, '\W+', ' ', 'g'));

create table people (
  id text primary key,
  open_to_work boolean not null default false,
  open_to_contact boolean not null default false,
  work_preferred_salary_min double precision check (work_preferred_salary_min >= 0),  -- INR a year
  work_preferred_locations text[] not null default '{}',
  work_preferred_locations_norm text[] not null generated always as (lowered_names(work_preferred_locations)) stored,
  name text,
  headline text,
  bio text,
  city text,
  country text,
  -- contact details: they leave the database only for a caller who has unlocked them
  email text,
  phone text,
  links text[] not null default '{}'
);

-- What filters compare stands first: Postgres reads a row up to the last column that it needs.
create table experience_cards (
  id text primary key,
  person_id text not null references people on delete cascade,
  visible boolean not null default true,
  is_current boolean,
  start_date date,
  end_date date,
  intent_primary text not null check (intent_primary in (
    'work', 'education', 'project', 'business', 'research', 'teaching', 'community', 'certification', 'achievement', 'career_break', 'other')),
  employment_type text check (employment_type in (
    'full_time', 'part_time', 'contract', 'freelance', 'internship', 'self_employed', 'volunteer')),
  seniority_level text check (seniority_level in (
    'intern', 'entry', 'mid', 'senior', 'lead', 'manager', 'director', 'executive', 'founder')),
  company_norm text generated always as (lower(btrim(company_name))) stored,
  team_norm text generated always as (lower(btrim(team))) stored,
  domain_norm text generated always as (lower(btrim(domain))) stored,
  sub_domain_norm text generated always as (lower(btrim(sub_domain))) stored,
  places tsvector not null generated always as (place_words(joined_text(city, country, location))) stored,
  city_norm text generated always as (lower(btrim(city))) stored,
  country_norm text generated always as (lower(btrim(country))) stored,
  location text,
  title text not null,
  company_name text,
  team text,
  intent_secondary text[] not null default '{}',
  domain text,
  sub_domain text,
  city text,
  country text,
  summary text,
  skills text[] not null default '{}',
  search_phrases text[] not null default '{}',
  text_search tsvector not null generated always as (to_tsvector('english', searchable_text(
    title, company_name, team, intent_primary, joined_names(intent_secondary), domain, sub_domain, employment_type, seniority_level,
    location, city, country, summary, joined_names(skills), joined_names(search_phrases)))) stored,
  content_hash text not null generated always as (md5(joined_text(
    title, company_name, team, domain, sub_domain, location, summary, joined_names(skills), joined_names(search_phrases)))) stored,
  embedded_hash text,
  refused_hash text,
  refusals smallint not null default 0,
  check (start_date <= end_date)
);

create table experience_card_children (
  id text primary key,
  card_id text not null references experience_cards on delete cascade,
  child_type text not null check (child_type in (
    'responsibility', 'achievement', 'project', 'skill', 'tool', 'metric', 'collaboration', 'learning')),
  title text not null,
  headline text,
  summary text,
  context text,
  tags text[] not null default '{}',
  search_phrases text[] not null default '{}',
  text_search tsvector not null generated always as (to_tsvector('english', searchable_text(
    title, headline, summary, context, joined_names(tags), joined_names(search_phrases)))) stored,
  content_hash text not null generated always as (md5(joined_text(
    title, headline, summary, context, joined_names(tags), joined_names(search_phrases)))) stored,
  embedded_hash text,
  refused_hash text,
  refusals smallint not null default 0,
  unique (id, card_id)
);

create index people_work_preferred_locations on people using gin (work_preferred_locations_norm) with (fastupdate = off);
create index experience_cards_person_id on experience_cards (person_id, visible);
create index experience_cards_company on experience_cards (company_norm);
create index experience_cards_company_like on experience_cards using gin (company_norm gin_trgm_ops) with (fastupdate = off);
create index experience_cards_team on experience_cards (team_norm);
create index experience_cards_domain on experience_cards (domain_norm);
create index experience_cards_sub_domain on experience_cards (sub_domain_norm);
create index experience_cards_city on experience_cards (city_norm);
create index experience_cards_country on experience_cards (country_norm);
create index experience_cards_places on experience_cards using gin (places) with (fastupdate = off);
create index experience_cards_skills on experience_cards using gin (lowered_names(skills)) with (fastupdate = off);
create index experience_cards_text_search on experience_cards using gin (text_search) with (fastupdate = off);
create index experience_card_children_card_id on experience_card_children (card_id);
create index experience_card_children_text_search on experience_card_children using gin (text_search) with (fastupdate = off);

create table experience_card_embeddings (
  record_id text not null references experience_cards on delete cascade,
  window_number smallint not null,
  embedding halfvec({{embedding_dimensions}}) not null,
  primary key (record_id, window_number)
);
alter table experience_card_embeddings alter column embedding set storage plain;
create index experience_card_embeddings_hnsw on experience_card_embeddings using hnsw (embedding halfvec_cosine_ops) with (ef_construction = 128);
create index experience_cards_not_embedded on experience_cards (id) where embedded_hash is distinct from content_hash;

-- card_id is the child's, filled in by the trigger whoever writes and kept by the foreign key: a search that walks the vectors need
-- not look up each child to find its card.
create table experience_card_child_embeddings (
  record_id text not null,
  window_number smallint not null,
  card_id text not null,
  embedding halfvec({{embedding_dimensions}}) not null,
  primary key (record_id, window_number),
  foreign key (record_id, card_id) references experience_card_children (id, card_id) on update cascade on delete cascade
);
create function card_of_child() returns trigger
language plpgsql
as $$
begin
  new.card_id := (select k.card_id from experience_card_children k where k.id = new.record_id);
  return new;
end
$$;
create trigger card_of_child before insert on experience_card_child_embeddings for each row execute function card_of_child();
create index experience_card_child_embeddings_card_id on experience_card_child_embeddings (card_id);
alter table experience_card_child_embeddings alter column embedding set storage plain;
create index experience_card_child_embeddings_hnsw on experience_card_child_embeddings using hnsw (embedding halfvec_cosine_ops)
  with (ef_construction = 128);
create index experience_card_children_not_embedded on experience_card_children (id) where embedded_hash is distinct from content_hash;

-- What the search filters people's cards by, as the functions of people take it; null filters nothing. Names are lower case and
-- trimmed; the salary is INR a year.
create type card_filters as (
  companies text[],
  teams text[],
  intents text[],
  domains text[],
  sub_domains text[],
  employment_types text[],
  seniority_levels text[],
  places text[],
  countries text[],
  time_start date,
  time_end date,
  is_current boolean,
  open_to_work_only boolean,
  preferred_locations text[],
  offer_salary double precision,
  excluded_companies text[],
  excluded_keywords text[]
);
