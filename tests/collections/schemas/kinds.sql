-- A botanical garden with one of every kind of table, column and key.
create extension if not exists citext;
create type "Light needs" as enum ('full sun', 'half shade', 'shade');
create domain percent as numeric(5, 2) check (value between 0 and 100);
create domain short_name as varchar(60);
create table families (code char(3) primary key, name short_name not null);
create table plants (
  id uuid primary key default gen_random_uuid(), label citext not null unique, family_code char(3) references families, description text,
  light "Light needs" not null, humidity percent, price money, height_cm int, height_m numeric generated always as (height_cm / 100.0) stored,
  flowers_in text[] not null default '{}', found tsvector generated always as (to_tsvector('simple', coalesce(description, ''))) stored,
  planted_on date, properties jsonb, "Seed Bank No." text);
create table "Garden Beds" (
  "House" text, "Row" int, "Bed Name" text not null, "Soil Notes" text, "Drip-fed?" boolean not null default true,
  primary key ("House", "Row"));
create table waterings (
  bed_house text not null, bed_row int not null, watered_at timestamptz not null, litres numeric(6, 1) not null, gardener_id uuid,
  primary key (bed_house, bed_row, watered_at), foreign key (bed_house, bed_row) references "Garden Beds")
  partition by range (watered_at);
create table waterings_2031 partition of waterings for values from ('2031-01-01') to ('2032-01-01');
create table waterings_later partition of waterings default;
create table gardeners (id uuid primary key default gen_random_uuid(), given_name text not null, family_name text not null, badge text unique);
create table observations (
  id bigint generated always as identity primary key, plant_id uuid references plants on delete cascade, tenant_id int not null default 1,
  remarks text, seen_at timestamp, temperature real, pests text[]);
alter table observations enable row level security;
create policy own on observations using (tenant_id::text = current_setting('app.tenant', true));
create table gate_log (at timestamptz, message text);
create view plant_cards as
  select p.id, p.label::text as label, p.description, f.name as family, p.light::text as light, p.flowers_in
  from plants p left join families f on f.code = p.family_code;
create materialized view litres_by_bed as
  select bed_house || '/' || bed_row as bed, sum(litres) as litres from waterings group by 1;
insert into families values ('LAM', 'Mint family'), ('ROS', 'Rose family'), ('ERI', 'Heath family');
insert into gardeners (given_name, family_name, badge) values ('Ilse', 'Holm', 'G1'), ('Tove', 'Brandt', 'G2');
insert into plants (label, family_code, description, light, humidity, price, height_cm, flowers_in, planted_on)
select (array['Lavender', 'Sage', 'Dog rose', 'Heather', 'Thyme'])[1 + n % 5] || ' ' || n,
  (array['LAM', 'LAM', 'ROS', 'ERI', 'LAM'])[1 + n % 5],
  (array['Grey leaves that smell of camphor; bees come all day.', null, 'A climbing shrub with hooked thorns and red hips.',
         'Low and evergreen on acid ground.', 'Creeps between stones and is used in the kitchen.'])[1 + n % 5],
  (array['full sun', 'half shade', 'shade'])[1 + n % 3]::"Light needs", 40 + n, (3 + n % 4)::money, 20 + n * 3,
  case n % 2 when 0 then array['June', 'July'] else array['August'] end, date '2031-03-01' + n
from generate_series(0, 29) n;
insert into "Garden Beds"
select house, n, house || ' bed ' || n, case when n % 2 = 0 then 'Sandy, dries out fast.' else 'Heavy clay.' end, n % 2 = 0
from unnest(array['North', 'South']) house, generate_series(1, 5) n;
insert into waterings
select house, 1 + n % 5, timestamptz '2031-06-01 06:00+00' + n * interval '10 days', 10 + n, null
from unnest(array['North', 'South']) house, generate_series(0, 29) n;
insert into observations (plant_id, remarks, seen_at, temperature, pests)
select id, 'Aphids on the young shoots of ' || label, '2031-06-10', 21.5, array['aphids'] from plants where height_cm < 50;
insert into gate_log values (now(), 'opened');
