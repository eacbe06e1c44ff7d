-- Keys of several columns, unique keys in place of primary ones, references by several columns and to other than primary keys.
create table sites (country char(2), number int, name text not null, about text, primary key (country, number));
create table visits (
  country char(2), site int, visitor text, on_day date, remarks text, primary key (country, site, visitor, on_day),
  foreign key (country, site) references sites);
create table guides (id int primary key, code text not null unique, name text not null, biography text);
create table tours (title text, guide_code text references guides (code), summary text, reference text not null unique, year int);
create table notes (a text, b text, body text, unique (a, b));
create table pairs (a text not null, b text not null, body text, unique (a, b));
create table ranges (during int4range primary key, body text);
create unlogged table scores (lists int[] primary key, body text);
