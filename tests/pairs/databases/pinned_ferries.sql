create table countries (id int primary key, name text not null);
create table towns (id int primary key, name text not null, country_id int not null references countries);
create table customers (id int primary key, first_name text not null, last_name text not null,
  town_id int not null references towns, active smallint not null, registered_on date not null);
create table captains (id int primary key, first_name text not null, last_name text not null, hire_date date not null);
create table harbours (id int primary key, name text not null, depth_m numeric not null, town_id int references towns);
create table ships (id int primary key, name text not null, about text not null, length_m int not null, price numeric not null,
  built_year int not null);
create table crossings (id int primary key, ship_id int not null references ships, captain_id int not null references captains,
  from_harbour_id int not null references harbours, to_harbour_id int not null references harbours,
  crossing_date date not null, duration_minutes int not null, cancelled smallint not null);
create table bookings (id int primary key, customer_id int not null references customers,
  crossing_id int not null references crossings, booking_date date not null, billing_country text not null,
  freight numeric not null);
create table booking_lines (booking_id int references bookings, ticket_kind text, unit_price numeric not null,
  quantity int not null, discount numeric, primary key (booking_id, ticket_kind));
insert into countries values (1, 'Norway'), (2, 'Estonia'), (3, 'Denmark');
insert into towns select i, (array['Moss', 'Tartu', 'Skagen', 'Horten', 'Narva', 'Aarhus'])[i], 1 + (i - 1) % 3
from generate_series(1, 6) i;
insert into customers select i, (array['Ada', 'Boris', 'Cleo', 'Dana', 'Emil'])[1 + i % 5],
  (array['Falk', 'Holt', 'Krug', 'Marsh', 'Palmer', 'Quill'])[1 + i % 6], 1 + i % 6, (i % 7 <> 0)::int,
  date '2021-01-03' + i * 20
from generate_series(1, 60) i;
insert into captains values (1, 'Ines', 'Vance', '2009-05-01'), (2, 'Otto', 'Moro', '2014-02-11'),
  (3, 'Una', 'Reed', '2014-09-30');
insert into harbours select i, (array['North Pier', 'Old Quay', 'Salt Dock', 'West Mole'])[i], 5 + i * 1.5, 1 + i % 4
from generate_series(1, 4) i;
insert into ships select i, (array['Alder', 'Birch', 'Cedar', 'Dogwood', 'Elm'])[i],
  'It carries cars, lorries and people over the sound.',
  60 + i * 17 % 50, 1000000 + i * 7 % 5 * 250000, 1990 + i * 6 from generate_series(1, 5) i;
insert into crossings select i, 1 + i % 5, 1 + (i * i) % 3, 1 + i % 4, 1 + (i + 1 + i % 3) % 4, date '2023-01-01' + i * 2,
  20 + (i * 17) % 110, (i % 11 = 0)::int from generate_series(1, 300) i;
insert into bookings select i, 1 + (i * 7) % 60, 1 + (i * 13) % 300, date '2023-01-01' + i * 2,
  (array['Norway', 'Estonia', 'Denmark', 'Finland'])[1 + i % 4], (i * 37) % 90 from generate_series(1, 320) i;
insert into booking_lines select b, k, p, 1 + (b + p) % 3, case when b % 5 = 0 then 0.1 when b % 3 = 0 then 0 end
from generate_series(1, 320) b, (values ('adult', 30), ('child', 12), ('car', 55)) v (k, p) where (b + p) % 4 <> 0;
