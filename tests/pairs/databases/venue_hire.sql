-- A village hall: its rooms, who hires them, and what people complain about. Fees are in pounds. Today is 2026-03-18.
create table rooms (
    id int primary key,
    room text not null,
    seats int not null,
    hourly_fee_gbp numeric(6, 2) not null
);
create table hirers (
    id int primary key,
    name text not null,
    kind text not null,
    town text not null,
    since date not null
);
create table hires (
    id int primary key,
    room_id int not null references rooms,
    hirer_id int not null references hirers,
    purpose text not null,
    status text not null,
    caretaker text,
    hire_date date not null,
    hours int not null,
    fee_gbp numeric(8, 2) not null,
    paid_on date,
    guests int
);
create table complaints (
    id int primary key,
    hire_id int references hires,
    topic text not null,
    received_on date not null,
    handled_by text,
    settled_on date
);
insert into rooms values (1, 'Main Hall', 180, 32), (2, 'Committee Room', 14, 9.5), (3, 'Kitchen', 6, 12), (4, 'Garden Room', 40, 18), (5, 'Loft', 10, 6);
insert into hirers values
    (1, 'Thornbury Yoga', 'business', 'Thornbury', '2019-04-01'), (2, 'Scouts 3rd Alveston', 'charity', 'Alveston', '2015-09-01'), (3, 'Nadia Greaves', 'private', 'Olveston', '2025-02-10'),
    (4, 'Bridge Club', 'club', 'Thornbury', '2012-01-16'), (5, 'Tots and Toys', 'business', 'Alveston', '2023-10-02'), (6, 'Harold Finch', 'private', 'Tytherington', '2025-08-20'),
    (7, 'Repair Café', 'charity', 'Thornbury', '2022-06-11'), (8, 'Line Dancers', 'club', 'Almondsbury', '2026-03-01');
insert into hires
select n, room_id, (array[1, 2, 4, 1, 5, 3, 1, 7, 4])[1 + (n * 3571 % 991) % 9],
    (array['class', 'meeting', 'class', 'party', 'meeting', 'fair', 'class', 'wedding'])[1 + (n * 7919 % 1009) % 8], status,
    case when status = 'held' or n % 3 > 0 then (array['Doug', 'Pam', 'Doug', 'Doug', 'Pam', 'Stuart'])[1 + (n * 2741 % 983) % 6] end, hire_date, hours, hours * 11 + (n * 7109 % 1019) * 0.25,
    case when status = 'held' and n % 6 > 0 then hire_date + 3 + (n * 13) % 30 end, case when n % 7 > 0 then 4 + (n * 5059 % 1013) % 140 end
from (
    select n, (array[1, 2, 1, 4, 3, 1, 2])[1 + (n * 4447 % 1013) % 7] as room_id, 1 + (n * 6007 % 997) % 7 as hours,
        case when n > 84 then case when n % 3 = 0 then 'provisional' else 'confirmed' end when n % 12 = 0 then 'cancelled' else 'held' end as status,
        date '2025-01-04' + (n * 26) / 5 as hire_date
    from generate_series(1, 96) as n
) as diary;
insert into complaints values
    (1, 4, 'noise', '2025-02-01', 'Pam', '2025-02-12'), (2, 9, 'heating', '2025-03-03', 'Doug', '2025-03-04'), (3, null, 'parking', '2025-05-19', null, null), (4, 31, 'noise', '2025-06-20', 'Pam', '2025-07-15'),
    (5, 40, 'cleaning', '2025-08-06', 'Stuart', '2025-08-08'), (6, null, 'noise', '2025-09-29', 'Pam', '2025-10-09'), (7, 66, 'heating', '2025-12-16', 'Doug', '2025-12-19'), (8, 71, 'heating', '2026-01-12', 'Pam', null),
    (9, null, 'parking', '2026-02-23', null, null), (10, 83, 'noise', '2026-03-12', null, null);
