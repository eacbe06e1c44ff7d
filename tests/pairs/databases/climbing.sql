-- A climbing gym. Prices are in Canadian dollars. Today is 2026-07-01.
create table members (
    member_no int primary key,
    given_name text not null,
    family_name text not null,
    birthday date,
    pass_type text not null,
    monthly_fee numeric(6, 2) not null,
    since date not null,
    cancelled_on date
);
create table coaches (
    id int primary key,
    name text not null,
    certificate text,
    hourly_rate numeric(6, 2) not null
);
create table walls (
    id int primary key,
    name text not null,
    height_m numeric(4, 1) not null,
    indoor boolean not null
);
create table routes (
    id int primary key,
    name text not null,
    wall_id int not null references walls,
    grade text not null,
    setter_id int references coaches,
    set_on date not null,
    stripped_on date
);
create table courses (
    id int primary key,
    title text not null,
    coach_id int not null references coaches,
    starts_on date not null,
    sessions int not null,
    session_min int not null,
    price numeric(7, 2) not null,
    max_people int not null
);
create table enrolments (
    course_id int not null references courses,
    member_no int not null references members,
    paid boolean not null,
    enrolled_on date not null,
    primary key (course_id, member_no)
);
create table visits (
    id int primary key,
    member_no int not null references members,
    came_on date not null,
    minutes int not null
);
insert into members
select n, (array['Alix', 'Bryn', 'Cody', 'Devi', 'Esme', 'Finn', 'Gwen', 'Hiro', 'Isla', 'Jack', 'Kaya', 'Liam', 'Maeve'])[1 + (n * 5) % 13], (array['Arsenault', 'Bouchard', 'Chen', 'Dhillon', 'Ellsworth', 'Fraser', 'Gagnon', 'Hayes'])[1 + (n * 3) % 8], case when n % 10 = 3 then null else date '1966-02-01' + n * 311 end,
    (array['full', 'off-peak', 'full', 'youth', 'punch card'])[1 + (n * 7) % 5], (array[79, 52, 79, 45, 0])[1 + (n * 7) % 5], date '2022-01-15' + n * 33, case when n % 9 = 4 then date '2025-11-30' + n end
from generate_series(1, 46) as n;
insert into coaches values (1, 'Renée Tremblay', 'lead', 48), (2, 'Dougal Munro', 'bouldering', 42), (3, 'Sunil Rao', null, 30), (4, 'Abby Winters', 'lead', 45), (5, 'Theo Marchand', 'youth', 38);
insert into walls values (1, 'The Prow', 14.5, true), (2, 'Slab Alley', 9, true), (3, 'Boulder Cave', 4.2, true), (4, 'Backyard Tower', 17, false), (5, 'Kids Corner', 3.5, true);
insert into routes
select n, (array['Purple Haze', 'Toast Rack', 'Slippery When Wet', 'Old Goat', 'Lemon Drop', 'No Hands', 'The Long Goodbye', 'Pinch Me', 'Moss Boss', 'Crimson Tide', 'Elbow Room', 'Granny Smear', 'Tin Roof', 'Left Turn', 'Butterfingers', 'Iron Pony', 'Snow Day', 'Copycat', 'Dyno Might', 'Tiptoe', 'Short Straw', 'Heel Thyself', 'Blue Monday', 'Green Giant', 'Last Call', 'Overcooked', 'Paper Moon', 'Rust Bucket', 'Campus Rep', 'Free Lunch'])[n],
    (array[1, 2, 3, 1, 4, 3, 1, 2])[1 + (n * 7919 % 1009) % 8], (array['5.8', '5.9', '5.10', 'V2', '5.9', 'V4', '5.11', '5.7'])[1 + (n * 2741 % 983) % 8], case when n % 7 = 0 then null else (array[2, 1, 2, 4])[1 + n % 4] end, date '2025-11-03' + n * 7, case when n < 12 then date '2026-03-15' + n * 6 end
from generate_series(1, 30) as n;
insert into courses values
    (1, 'Learn to Lead', 1, '2026-02-10', 6, 120, 210, 8), (2, 'Kids Climb Spring', 5, '2026-03-28', 10, 60, 160, 12), (3, 'Bouldering Basics', 2, '2026-04-07', 4, 90, 95, 10), (4, 'Falling Safely', 4, '2026-05-16', 1, 150, 40, 14), (5, 'Learn to Lead', 4, '2026-06-09', 6, 120, 215, 8), (6, 'Women''s Strength', 1, '2026-07-14', 8, 75, 180, 12), (7, 'Kids Climb Summer', 5, '2026-07-06', 5, 120, 190, 12), (8, 'Outdoor Day', 2, '2026-09-05', 1, 420, 110, 6);
insert into enrolments
select distinct on (1, 2) (array[1, 2, 3, 4, 3, 5, 7, 2, 6, 3, 1])[1 + (n * 3571 % 991) % 11], 1 + (n * 6007 % 997) % 40, n % 5 <> 2, date '2026-01-12' + n * 11 / 4 from generate_series(1, 60) as n;
insert into visits
select n, 1 + (n * n + 3 * n) % 43, date '2026-01-03' + n * 178 / 195, 35 + (n * 4447 % 1013) % 130 from generate_series(1, 195) as n;
