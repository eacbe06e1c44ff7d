-- A lending library: enumerations, domains, arrays, lookups of places and languages, joins, partitions, views, a search vector.
create type reading_age as enum ('all', 'ten', 'sixteen');
create domain year as integer check (value between 1400 and 2155);
create table country (country_id serial primary key, country text not null, last_update timestamptz not null default now());
create table city (
  city_id serial primary key, city text not null, country_id integer not null references country,
  last_update timestamptz not null default now());
create table address (
  address_id serial primary key, address text not null, address2 text, district text not null,
  city_id integer not null references city, postal_code text, phone text not null,
  last_update timestamptz not null default now());
create table language (language_id serial primary key, name character(20) not null, last_update timestamptz not null default now());
create table category (category_id serial primary key, name text not null, last_update timestamptz not null default now());
create table author (
  author_id serial primary key, first_name text not null, last_name text not null,
  last_update timestamptz not null default now());
create table book (
  book_id serial primary key, title text not null, description text, print_year year,
  language_id integer not null references language, original_language_id integer references language,
  loan_fee numeric(4, 2) not null default 2.5, pages smallint, audience reading_age default 'all', editions text[],
  last_update timestamptz not null default now(), fulltext tsvector not null default '');
comment on table book is 'What can be borrowed';
create table book_author (
  author_id integer references author, book_id integer references book, last_update timestamptz not null default now(),
  primary key (author_id, book_id));
create table book_category (
  book_id integer references book, category_id integer references category, last_update timestamptz not null default now(),
  primary key (book_id, category_id));
create table branch (
  branch_id serial primary key, manager_staff_id integer not null unique, address_id integer not null references address,
  last_update timestamptz not null default now());
create table reader (
  reader_id serial primary key, branch_id integer not null references branch, first_name text not null,
  last_name text not null, email text, address_id integer not null references address, activebool boolean not null default true,
  create_date date not null default current_date, last_update timestamptz default now());
create table staff (
  staff_id serial primary key, first_name text not null, last_name text not null, email text, title text, active boolean not null,
  username text not null, password text, picture bytea, last_update timestamptz not null default now());
create table copy (
  copy_id serial primary key, book_id integer not null references book, branch_id integer not null references branch,
  last_update timestamptz not null default now());
create table payment (
  payment_id integer not null, reader_id integer not null, amount numeric(5, 2) not null, payment_date timestamptz not null,
  primary key (payment_date, payment_id)) partition by range (payment_date);
create table payment_2030 partition of payment for values from ('2030-01-01') to ('2031-01-01');
create table letter (
  letter_id integer not null, reader_id integer not null references reader, subject text not null, body text not null,
  sent_at timestamptz not null, primary key (sent_at, letter_id)) partition by range (sent_at);
create table letter_2030 partition of letter for values from ('2030-01-01') to ('2031-01-01');
create table letter_2031 partition of letter for values from ('2031-01-01') to ('2032-01-01');
create view reader_list as select reader_id as id, first_name || ' ' || last_name as name from reader;
create materialized view loans_by_category as select c.name, count(*) from category c group by 1;

insert into country (country) select 'Land ' || n from generate_series(1, 20) n;
insert into city (city, country_id) select 'Town ' || n, n % 20 + 1 from generate_series(1, 100) n;
insert into address (address, district, city_id, postal_code, phone)
select n || ' Mill Lane', 'District ' || n % 90, n % 100 + 1, 10000 + n, '555' || n from generate_series(1, 200) n;
insert into language (name) values ('English'), ('Welsh');
insert into author (first_name, last_name) select 'First' || n, 'Last' || n from generate_series(1, 60) n;
insert into book (title, description, print_year, language_id, pages, audience, editions)
select 'The tale of ' || n, repeat('A long journey through valleys and over hills. ', 3) || n, 1900 + n % 100, n % 2 + 1, n,
  (array['all', 'ten', 'sixteen'])[n % 3 + 1]::reading_age, array['paper', 'audio'] from generate_series(1, 300) n;
