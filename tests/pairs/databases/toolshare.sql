-- A tool-lending library of a neighbourhood. Deposits and fees are in dollars. Today is 2024-07-09.
create table categories (
    id int primary key,
    name text not null,
    parent_id int references categories
);
create table tools (
    id int primary key,
    name text not null,
    brand text,
    category_id int not null references categories,
    condition text not null,
    deposit numeric(6, 2) not null,
    replacement_value numeric(8, 2) not null,
    bought_on date,
    donated_by int
);
create table members (
    id int primary key,
    name text not null,
    email text,
    street text not null,
    member_since date not null,
    membership text not null,
    expires_on date not null
);
create table loans (
    id int primary key,
    tool_id int not null references tools,
    member_id int not null references members,
    out_on date not null,
    due_on date not null,
    back_on date,
    late_fee numeric(6, 2) not null default 0
);
create table reservations (
    id int primary key,
    tool_id int not null references tools,
    member_id int not null references members,
    wanted_for date not null,
    days int not null,
    placed_on date not null
);
create table workshops (
    id int primary key,
    title text not null,
    held_on date not null,
    leader_id int not null references members,
    places int not null,
    attendees int,
    hours numeric(3, 1) not null
);
insert into categories values (1, 'Garden', null), (2, 'Power tools', null), (3, 'Hand tools', null), (4, 'Kitchen', null), (5, 'Lawn', 1), (6, 'Drills', 2), (7, 'Saws', 2), (8, 'Sewing', null), (9, 'Camping', null);
insert into tools values
    (1, 'Hammer drill', 'Bosch', 6, 'good', 25, 140, '2021-04-10', null), (2, 'Cordless drill', 'Makita', 6, 'good', 20, 160, '2023-02-18', null), (3, 'Circular saw', 'DeWalt', 7, 'fair', 40, 210, '2020-09-05', null), (4, 'Jigsaw', 'Bosch', 7, 'good', 20, 95, null, 3),
    (5, 'Hedge trimmer', 'Stihl', 1, 'good', 30, 260, '2022-05-21', null), (6, 'Lawn mower', 'Honda', 5, 'poor', 60, 480, null, 11), (7, 'Aerator', null, 5, 'fair', 35, 190, '2019-03-30', null), (8, 'Wheelbarrow', null, 1, 'fair', 10, 70, null, 7),
    (9, 'Socket set', 'Stanley', 3, 'good', 15, 85, '2021-04-10', null), (10, 'Pipe wrench', 'Ridgid', 3, 'good', 10, 45, null, null), (11, 'Stand mixer', 'KitchenAid', 4, 'new', 50, 390, '2024-03-02', null), (12, 'Pressure canner', 'Presto', 4, 'good', 30, 120, '2022-08-14', null),
    (13, 'Fruit press', null, 4, 'good', 25, 175, null, 19), (14, 'Overlocker', 'Janome', 8, 'new', 40, 320, '2024-05-25', null), (15, 'Tile cutter', 'Rubi', 3, 'fair', 30, 150, '2023-10-07', null), (16, 'Belt sander', 'Makita', 2, 'good', 25, 185, '2023-02-18', null), (17, 'Chainsaw', 'Stihl', 7, 'in repair', 80, 430, '2020-09-05', null), (18, 'Post hole digger', null, 1, 'good', 15, 60, null, 7);
insert into members
select n, (array['Abe', 'Bonnie', 'Cal', 'Dolores', 'Emeka', 'Fay', 'Gus', 'Hilda', 'Ivan', 'Joy', 'Kofi'])[1 + (n * 8) % 11] || ' ' || (array['Applegate', 'Brandt', 'Cho', 'Doyle', 'Eng', 'Frost', 'Gallo'])[1 + (n * 2) % 7],
    case when n % 6 = 5 then null else 'member' || n || '@example.org' end, (array['Elm Street', 'Quarry Road', 'Mill Lane', 'Elm Street', 'Fourth Avenue'])[1 + (n * 3) % 5], date '2019-05-04' + n * 47, (array['basic', 'family', 'basic', 'solidarity', 'basic'])[1 + n % 5], date '2024-04-20' + (n * 37) % 330
from generate_series(1, 36) as n;
insert into loans
select n, (array[1, 2, 3, 6, 2, 11, 5, 9, 2, 16, 1, 8, 13, 5, 15, 2])[1 + (n * 3571 % 991) % 16], (array[2, 5, 9, 14, 9, 21, 3, 9, 27, 30, 5, 12, 18])[1 + (n * 7919 % 1009) % 13], date '2023-10-02' + n * 277 / 110, date '2023-10-02' + n * 277 / 110 + 7,
    case when n > 103 or n in (71, 88) then null else date '2023-10-02' + n * 277 / 110 + 1 + (n * 2741 % 983) % 10 end, case when n <= 103 and n not in (71, 88) and (n * 2741 % 983) % 10 > 6 then ((n * 2741 % 983) % 10 - 6) * 1.5 else 0 end
from generate_series(1, 110) as n;
insert into reservations
select n, (array[2, 11, 5, 14, 2, 3, 17])[1 + n % 7], 1 + (n * 11) % 33, date '2024-06-20' + n * 2, 1 + (n * 3) % 5, date '2024-06-03' + n * 3 / 2
from generate_series(1, 22) as n;
insert into workshops values
    (1, 'Drilling for beginners', '2023-11-11', 9, 12, 11, 2), (2, 'Sharpen your knives', '2024-01-20', 4, 15, 15, 1.5), (3, 'Fruit tree pruning', '2024-02-17', 7, 20, 13, 3), (4, 'Sew a tote bag', '2024-04-06', 16, 8, 8, 4), (5, 'Tiling a splashback', '2024-05-18', 9, 10, 6, 5), (6, 'Canning tomatoes', '2024-08-24', 4, 12, null, 3.5), (7, 'Fix your bike', '2024-09-14', 21, 14, null, 2.5);
