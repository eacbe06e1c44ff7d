-- A fishing port: boats, their skippers, what they landed and who bought it. Today is 2026-04-14.
create table ports (id int primary key, name text not null, county text not null, berths int not null);
create table boats (
    id int primary key, name text not null, port_id int not null references ports, length_m numeric(4, 1) not null,
    crew_size int not null, built_year int not null, gear text not null, licensed boolean not null, acquired_on date not null
);
create table skippers (
    id int primary key, full_name text not null, boat_id int references boats, certified_on date not null, phone text
);
create table landings (
    id int primary key, boat_id int not null references boats, species text not null, kilos numeric(7, 1) not null,
    price_per_kilo numeric(6, 2) not null, landed_on date not null, grade text not null, status text not null
);
create table inspections (
    id int primary key, boat_id int not null references boats, inspector text not null, held_on date not null, outcome text not null
);
insert into ports values (1, 'Newlyn', 'Cornwall', 40), (2, 'Brixham', 'Devon', 62), (3, 'Whitby', 'Yorkshire', 18), (4, 'Padstow', 'Cornwall', 12);
insert into boats values
    (1, 'Morning Star', 1, 14.2, 5, 1998, 'trawl', true, '2012-03-01'), (2, 'Girl Pamela', 1, 9.8, 2, 2007, 'net', true, '2019-06-17'),
    (3, 'Sapphire II', 2, 23.5, 8, 1989, 'trawl', true, '2008-10-05'), (4, 'Ocean Pride', 2, 18.0, 6, 2011, 'trawl', false, '2021-02-11'),
    (5, 'Provider', 3, 7.4, 2, 1976, 'pot', true, '2016-08-23'), (6, 'Success', 3, 11.1, 3, 2003, 'net', true, '2024-05-09'),
    (7, 'Black Bess', 4, 8.6, 2, 2015, 'pot', false, '2025-01-20');
insert into skippers values
    (1, 'Ned Trevena', 1, '2001-04-12', '01736 555001'), (2, 'Ada Pascoe', 2, '2015-09-30', null), (3, 'Silas Gribble', 3, '1996-01-15', '01803 555003'),
    (4, 'Morag Finlay', 4, '2018-07-02', '01803 555004'), (5, 'Harry Locker', 5, '1989-05-21', null), (6, 'Jess Storr', 6, '2022-11-11', '01947 555006'),
    (7, 'Perran Hocking', null, '2025-03-03', null);
insert into landings values
    (1, 1, 'hake', 820.5, 4.10, '2026-01-08', 'A', 'sold'), (2, 1, 'cod', 310.0, 3.20, '2026-01-22', 'B', 'sold'), (3, 2, 'mackerel', 560.0, 1.40, '2026-01-15', 'A', 'sold'),
    (4, 2, 'hake', 95.0, 4.40, '2026-02-03', 'A', 'sold'), (5, 3, 'cod', 1450.0, 3.05, '2026-02-11', 'A', 'sold'), (6, 3, 'plaice', 640.0, 2.20, '2026-02-19', 'B', 'withdrawn'),
    (7, 3, 'hake', 980.0, 3.90, '2026-03-05', 'A', 'sold'), (8, 4, 'plaice', 720.0, 2.35, '2026-03-09', 'A', 'sold'), (9, 5, 'lobster', 48.5, 17.50, '2026-03-12', 'A', 'sold'),
    (10, 5, 'crab', 130.0, 3.60, '2026-03-20', 'B', 'withdrawn'), (11, 5, 'lobster', 36.0, 18.20, '2026-04-01', 'A', 'sold'), (12, 6, 'mackerel', 410.0, 1.55, '2026-04-02', 'B', 'sold'),
    (13, 6, 'cod', 275.0, 3.35, '2026-04-07', 'A', 'stored'), (14, 1, 'plaice', 505.0, 2.10, '2026-04-09', 'C', 'stored'), (15, 4, 'hake', 660.0, 4.00, '2025-11-18', 'A', 'sold'),
    (16, 3, 'cod', 1120.0, 2.95, '2025-12-02', 'C', 'sold');
insert into inspections values
    (1, 1, 'Pole', '2025-09-14', 'passed'), (2, 1, 'Reyes', '2026-02-27', 'passed'), (3, 3, 'Pole', '2025-06-03', 'failed'), (4, 3, 'Pole', '2025-10-21', 'passed'),
    (5, 4, 'Reyes', '2026-01-30', 'failed'), (6, 5, 'Dunn', '2025-12-12', 'passed'), (7, 2, 'Dunn', '2026-03-18', 'passed');
