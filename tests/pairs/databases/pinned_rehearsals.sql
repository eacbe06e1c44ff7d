create table rooms (id int primary key, name text not null, about text, quarter text, area_sqm numeric, seats int,
  hourly_rent numeric(6,2), deposit numeric(6,2), heated boolean, in_service boolean, piano_available boolean, built int,
  opened_on date, equipment text[], prizes text[], supervisor text);
insert into rooms select i, 'Room ' || chr(64 + i),
  'Thick walls and patient neighbours, a kettle, and a view of the yard',
  (array['Docks','Old Town','Hill'])[1 + i % 3], 12 + (i * 17) % 60, 2 + (i * 5) % 9, 8 + (i * 7) % 23, 100 - i * 3,
  i % 3 <> 0, i % 5 <> 0, i % 2 = 0, 1880 + (i * 37) % 140, date '2019-02-01' + (i * 83) % 1900,
  case i % 4 when 0 then '{}' when 1 then '{drums}' else '{drums,mixer}' end::text[],
  case when i % 3 = 1 then '{Quiet Prize}' else '{}' end::text[],
  (array['Una Vale','Tom Reed'])[1 + i % 2]
from generate_series(1, 24) i;
create table bookings (id int primary key, room_id int references rooms, note text, booker text,
  hours_booked int, stars int, cancelled boolean, began_on date, guests_invited int);
insert into bookings select i, 1 + i % 24, 'The band brings its own chairs and would like to be let in a little early',
  (array['Ada Falk','Bo Lind','Cleo Marsh','Bo Lind'])[1 + i % 4], 1 + i % 6, 1 + (i * 3) % 5, i % 7 = 0,
  date '2024-01-03' + i * 4, (i * 7) % 30
from generate_series(1, 80) i;
create table notenhefte (id int primary key, bezeichnung text not null, beschreibung text, verlag text, zustand text,
  gebunden boolean, gewicht_kg numeric, erscheinungsjahr int, gekauft_am date);
insert into notenhefte select i, 'Heft ' || i, 'Stimmen einzeln gelegt, mit Bleistift bezeichnet und oft gespielt',
  (array['Amsel','Birke','Clara'])[1 + i % 3], (array['gut','lose'])[1 + i % 2], i % 4 = 0, 0.1 * ((i * 7) % 61),
  1801 + (i * 13) % 200, date '2001-05-01' + i * 60
from generate_series(1, 60) i;
