-- A rowing regatta and its handball evening: clubs meet as host and guest. Today is 2026-09-03.
create table clubs (
    club_no int primary key,
    club_name text not null,
    county text not null,
    founded_in int not null,
    boats int not null,
    has_boathouse boolean not null
);
create table rowers (
    rower_no int primary key,
    club_no int not null references clubs,
    rower_name text not null,
    side text not null,
    weight_kg numeric(4, 1) not null,
    birth_date date not null,
    medals int not null,
    injured boolean not null
);
create table fixtures (
    fixture_no int primary key,
    host_no int not null references clubs,
    guest_no int not null references clubs,
    rowed_on date not null,
    host_points int,
    guest_points int,
    spectators int,
    umpire text,
    weather text not null
);
create table transfers (
    transfer_no int primary key,
    rower_no int not null references rowers,
    from_no int not null references clubs,
    to_no int not null references clubs,
    agreed_on date not null,
    fee_gbp int
);
insert into clubs select g, (array['Isis Blades', 'Tamar Oars', 'Severn Eight', 'Cam Scullers', 'Wye Valley', 'Thames Crew', 'Trent Sweep'])[g], (array['Oxfordshire', 'Devon', 'Devon', 'Cambridgeshire'])[1 + g % 4], 1861 + g * 17, 4 + (g * 5) % 23, g % 3 > 0 from generate_series(1, 7) g;
insert into rowers select g, 1 + g % 6, (array['Ada Birch', 'Cyril Dane', 'Esme Frith', 'Gus Hale', 'Ivy Jarvis', 'Kit Lowe', 'Maud Neal', 'Otis Pym', 'Ruth Sand', 'Troy Ude', 'Vera Wynn', 'Zack Yule', 'Bess Cray', 'Dora Eyre', 'Finn Gale', 'Hope Iles', 'Jack Kerr', 'Lily Moss'])[g], (array['bow', 'stroke', 'cox'])[1 + g % 3], 52 + (g * 173) % 410 / 10.0, date '1986-03-04' + g * 307, (g * 11) % 17, g % 7 = 3 from generate_series(1, 18) g;
insert into fixtures select g, 1 + g % 6, 1 + (g + 1 + g % 4) % 6, date '2026-03-07' + g * 9, case when g % 8 <> 5 then (g * 7) % 31 end, case when g % 8 <> 5 then (g * 11) % 29 end, case when g % 8 <> 5 then 80 + (g * 131) % 990 end, (array['N. Orr', 'P. Quist', null, 'S. Rudd'])[1 + g % 4], (array['sunny', 'windy', 'rain'])[1 + g % 3] from generate_series(1, 22) g where 1 + g % 6 <> 1 + (g + 1 + g % 4) % 6;
insert into transfers select g, 1 + (g * 5) % 17, 1 + g % 6, 1 + (g + 2) % 6, date '2024-10-01' + g * 71, case when g % 3 > 0 then 200 + g * 155 end from generate_series(1, 9) g;
