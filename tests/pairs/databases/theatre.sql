-- A municipal theatre. Prices are in euros. Today is 2026-03-18.
create table venues (
    id int primary key,
    name text not null,
    seats int not null
);
create table productions (
    id int primary key,
    title text not null,
    author text,
    genre text not null,
    premiere date not null,
    running_minutes int not null,
    interval_minutes int
);
create table performances (
    id int primary key,
    production_id int not null references productions,
    venue_id int not null references venues,
    starts_at timestamp not null,
    cancelled boolean not null default false
);
create table actors (
    id int primary key,
    stage_name text not null,
    joined_year int not null,
    fee_per_night numeric(7, 2)
);
create table roles (
    production_id int not null references productions,
    actor_id int not null references actors,
    character_name text not null,
    is_lead boolean not null,
    primary key (production_id, actor_id, character_name)
);
create table bookings (
    id int primary key,
    performance_id int not null references performances,
    booked_on date not null,
    tickets int not null,
    total numeric(8, 2) not null,
    concession text
);
insert into venues values (1, 'Main Stage', 420), (2, 'Studio', 99), (3, 'Courtyard', 180), (4, 'Rehearsal Loft', 40);
insert into productions values
    (1, 'The Lighthouse Keeper''s Wife', 'M. Ashdown', 'drama', '2025-09-12', 135, 20),
    (2, 'A Winter of Small Lies', 'Per Lindgren', 'comedy', '2025-10-03', 110, 15),
    (3, 'Hamster, Prince of Denmark', 'Tilly Roe', 'children', '2025-11-22', 60, null),
    (4, 'Salt', null, 'dance', '2026-01-16', 75, null),
    (5, 'The Glass Orchard', 'Irina Volkova', 'drama', '2026-02-06', 165, 25),
    (6, 'Barbers and Thieves', 'Collins & Page', 'musical', '2025-12-05', 150, 20),
    (7, 'Nightshift', 'Dario Conti', 'drama', '2026-04-24', 90, null);
insert into actors values
    (1, 'Beatrix Lowe', 2004, 310), (2, 'Samuel Achebe', 2016, 260), (3, 'Fleur Janssen', 2021, 190), (4, 'Oskar Brandl', 1998, 340),
    (5, 'Mina Farouk', 2023, 170), (6, 'Gareth Pryce', 2011, 265), (7, 'Lola Cortez', 2024, null), (8, 'Edmund Vane', 1991, 400);
insert into roles values
    (1, 1, 'Agnes', true), (1, 4, 'The Keeper', true), (1, 6, 'Postman', false), (2, 2, 'Lars', true), (2, 3, 'Ulla', true), (2, 6, 'Inspector', false),
    (3, 5, 'Hamster', true), (3, 3, 'Ophelia', false), (4, 5, 'The Wave', true), (5, 1, 'Ranya', true), (5, 2, 'Pyotr', false), (5, 4, 'Uncle', false),
    (6, 6, 'Sweeney Todd the Elder', true), (6, 2, 'Thief', false), (6, 1, 'Barmaid', false), (7, 3, 'Nurse', true), (7, 2, 'Porter', true);
insert into performances
select n, p.id, (array[1, 2, 1, 3, 1, 1, 2])[p.id],
    p.premiere + (n - (p.id - 1) * 12 - 1) * 6 + case when p.id = 3 then time '15:00' when n % 3 = 0 then time '20:30' else time '19:30' end,
    n % 17 = 0
from generate_series(1, 84) as n join productions as p on p.id = 1 + (n - 1) / 12;
insert into bookings
select n, f.id, f.starts_at::date - 1 - (n * 13) % 30, 1 + (n * 2741 % 983) % 6, (1 + (n * 2741 % 983) % 6) * (array[28.0, 19.5, 12.0, 22.0, 32.0, 38.0, 19.5])[f.production_id],
    case when n % 4 = 1 then 'student' when n % 7 = 0 then 'senior' when n % 11 = 0 then 'staff' end
from generate_series(1, 200) as n join performances as f on f.id = (array[1, 3, 6, 14, 15, 19, 25, 27, 30, 31, 37, 39, 41, 49, 50, 52, 56, 61, 62, 63, 64, 66, 68])[1 + (n * 7919 % 1009) % 23];
