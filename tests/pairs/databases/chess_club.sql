-- A chess club and its games: two references to one table by role. Today is 2026-03-09.
create table venues (
    id int primary key,
    title text not null,
    postcode text not null,
    boards int not null
);
create table members (
    id int primary key,
    full_name text not null,
    rating int not null,
    joined date not null,
    born_year int,
    junior boolean not null,
    email text
);
create table events (
    id int primary key,
    title text not null,
    venue_id int references venues,
    starts_on date not null,
    entry_fee numeric(6, 2) not null,
    tempo text not null
);
create table games (
    id int primary key,
    event_id int not null references events,
    white_id int not null references members,
    black_id int not null references members,
    round int not null,
    result text not null,
    opening text,
    moves int not null,
    played_on date not null
);
insert into venues values (1, 'Corn Exchange', 'BA1 5LN', 24), (2, 'Quaker Hall', 'BA2 4HQ', 10), (3, 'The Old Bell', 'BS31 1DL', 6);
insert into members values
    (1, 'Astrid Holm', 2104, '2014-09-02', 1988, false, 'astrid@holm.example'), (2, 'Bruno Teale', 1655, '2021-01-18', 1971, false, null),
    (3, 'Callum Reyes', 1890, '2019-10-07', 2009, true, 'callum@reyes.example'), (4, 'Dinah Okafor', 1422, '2025-02-24', 2012, true, 'dinah@okafor.example'),
    (5, 'Edgar Finn', 1987, '2009-05-11', 1954, false, 'edgar@finn.example'), (6, 'Farah Aziz', 1766, '2023-11-06', 1995, false, null),
    (7, 'Gideon Marsh', 1310, '2026-01-12', null, false, 'gideon@marsh.example'), (8, 'Hana Novak', 2231, '2017-03-27', 1999, false, 'hana@novak.example');
insert into events values
    (1, 'Winter Open', 1, '2025-12-06', 25.00, 'standard'), (2, 'Blitz Night', 3, '2026-01-30', 5.00, 'blitz'), (3, 'Club Championship', 2, '2026-02-02', 12.50, 'standard'),
    (4, 'Spring Rapid', 1, '2026-04-18', 18.00, 'rapid'), (5, 'Pub Blitz', null, '2025-08-21', 0, 'blitz');
insert into games values
    (1, 1, 1, 5, 1, '1-0', 'Ruy Lopez', 41, '2025-12-06'), (2, 1, 3, 8, 1, '0-1', 'Sicilian Defence', 28, '2025-12-06'), (3, 1, 8, 1, 2, '1/2-1/2', 'Catalan', 63, '2025-12-07'), (4, 1, 5, 3, 2, '1-0', 'Sicilian Defence', 52, '2025-12-07'),
    (5, 2, 2, 6, 1, '0-1', 'Scotch Game', 34, '2026-01-30'), (6, 2, 6, 1, 2, '0-1', null, 30, '2026-01-30'), (7, 2, 8, 2, 2, '1-0', 'Sicilian Defence', 22, '2026-01-30'), (8, 3, 4, 5, 1, '0-1', 'French Defence', 37, '2026-02-02'),
    (9, 3, 1, 6, 1, '1-0', 'Ruy Lopez', 33, '2026-02-02'), (10, 3, 5, 8, 2, '1/2-1/2', 'Caro-Kann', 71, '2026-02-09'), (11, 3, 3, 4, 3, '1-0', 'French Defence', 45, '2026-02-16'), (12, 5, 8, 5, 1, '1-0', null, 26, '2025-08-21');
