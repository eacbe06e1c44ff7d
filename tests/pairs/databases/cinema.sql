-- A small cinema: films, screenings, staff on shift. Today is 2026-11-02.
create table films (
    film_id int primary key,
    title text not null,
    director text not null,
    genre text not null,
    runtime_min int not null,
    released date not null,
    rating numeric(3, 1),
    budget_musd numeric(7, 1)
);
create table screens (
    screen_id int primary key,
    screen_name text not null,
    seats int not null,
    has_3d boolean not null
);
create table screenings (
    screening_id int primary key,
    film_id int not null references films,
    screen_id int not null references screens,
    shown_at timestamp not null,
    tickets_sold int not null,
    ticket_price numeric(5, 2) not null,
    usher_id int,
    projectionist_id int
);
create table staff (
    staff_id int primary key,
    staff_name text not null,
    joined date not null,
    hourly_wage numeric(5, 2) not null
);
alter table screenings add foreign key (usher_id) references staff, add foreign key (projectionist_id) references staff;
insert into films values (1, 'Salt Road', 'I. Banerji', 'drama', 141, '2025-03-14', 7.9, 22), (2, 'Tin Moon', 'C. Osei', 'animation', 88, '2026-02-06', 8.4, 65), (3, 'The Ferryman', 'L. Aalto', 'thriller', 112, '1987-09-25', 7.1, 4.5), (4, 'Quiet Hours', 'I. Banerji', 'drama', 96, '2026-08-21', null, 3), (5, 'Gravel', 'M. Tran', 'documentary', 74, '2024-11-08', 6.6, 0.9), (6, 'Night Express', 'C. Osei', 'thriller', 127, '2026-10-16', 6.2, 48);
insert into screens values (1, 'Grand', 240, true), (2, 'Studio', 85, false), (3, 'Attic', 36, false);
insert into staff values (1, 'Ivy Chan', '2016-04-01', 15.2), (2, 'Rob Keane', '2024-09-09', 12.6), (3, 'Zola Mbeki', '2021-01-18', 13.9), (4, 'Finn Arden', '2026-10-01', 11.8);
insert into screenings values
    (1, 1, 2, '2026-09-04 19:00', 61, 9.5, 2, 1), (2, 2, 1, '2026-09-12 14:00', 198, 8, 3, 1), (3, 2, 1, '2026-09-13 14:00', 221, 8, 2, 1), (4, 3, 3, '2026-09-20 21:00', 36, 7.5, null, 3), (5, 4, 2, '2026-10-02 18:30', 24, 9.5, 2, 3), (6, 6, 1, '2026-10-16 20:00', 233, 11, 3, 1),
    (7, 6, 1, '2026-10-17 20:00', 187, 11, 2, 1), (8, 5, 3, '2026-10-22 17:00', 12, 7.5, null, 3), (9, 1, 2, '2026-10-25 19:00', 40, 9.5, 3, 3), (10, 6, 2, '2026-11-01 20:30', 70, 11, 2, 1);
