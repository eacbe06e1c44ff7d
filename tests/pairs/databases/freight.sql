-- A haulier's tables with the abbreviated names of an old system. Amounts are in Swiss francs. Today is 2026-03-18.
create table cust (
    custno int primary key,
    custname text not null,
    ctry char(2) not null,
    crlimit numeric(10, 2) not null
);
comment on column cust.crlimit is 'Credit limit in CHF';
create table depot (
    depcode text primary key,
    depname text not null,
    docks int not null
);
create table veh (
    regno text primary key,
    vehtype text not null,
    maxload_kg int not null,
    depcode text not null references depot,
    nextmot date not null
);
comment on column veh.nextmot is 'Date of the next vehicle inspection';
create table drv (
    drvid int primary key,
    drvname text not null,
    lic_exp date not null,
    depcode text not null references depot
);
comment on column drv.lic_exp is 'Licence expiry';
create table cons (
    consno text primary key,
    custno int not null references cust,
    fromdep text not null references depot,
    desttown text not null,
    wt_kg numeric(8, 1) not null,
    pallets int not null,
    hazmat boolean not null,
    stat text not null,
    pickdt date not null,
    delvdt date,
    frtchg numeric(10, 2) not null
);
comment on table cons is 'Consignments';
comment on column cons.frtchg is 'Freight charge in CHF';
create table trip (
    tripno int primary key,
    regno text not null references veh,
    drvid int not null references drv,
    tripdt date not null,
    km int not null,
    drivemin int not null
);
comment on column trip.drivemin is 'Driving time in minutes';
insert into cust values (101, 'Alpina Käse AG', 'CH', 20000), (102, 'Rhein Chemie GmbH', 'DE', 75000), (103, 'Transports Moreau SA', 'FR', 30000),
    (104, 'Uhrwerk Biel', 'CH', 10000), (105, 'Ticino Marmi', 'CH', 15000), (106, 'Bodensee Obst eG', 'DE', 25000), (107, 'Helvetia Papier', 'CH', 50000),
    (108, 'Lago Ceramica Srl', 'IT', 12500);
insert into depot values ('ZRH', 'Zürich Altstetten', 14), ('BSL', 'Basel Kleinhüningen', 9), ('GVA', 'Genève La Praille', 6), ('LUG', 'Lugano Vezia', 3);
insert into veh values
    ('ZH 204 118', 'tractor unit', 24000, 'ZRH', '2026-04-14'), ('ZH 77 301', 'box van', 1200, 'ZRH', '2026-03-27'), ('ZH 310 990', 'rigid', 9500, 'ZRH', '2026-11-02'),
    ('BS 55 120', 'tractor unit', 25000, 'BSL', '2026-06-30'), ('BS 61 004', 'rigid', 11000, 'BSL', '2026-02-20'), ('GE 402 77', 'box van', 1350, 'GVA', '2026-09-09'),
    ('GE 118 23', 'tractor unit', 23500, 'GVA', '2027-01-15'), ('TI 9 881', 'tipper', 8000, 'LUG', '2026-03-31'), ('TI 14 650', 'rigid', 7500, 'LUG', '2026-08-18');
insert into drv values
    (1, 'Beat Zurbriggen', '2027-05-31', 'ZRH'), (2, 'Sandra Iten', '2026-04-30', 'ZRH'), (3, 'Luca Bernasconi', '2028-02-14', 'LUG'),
    (4, 'Mehmet Aydin', '2026-03-10', 'BSL'), (5, 'Chloé Favre', '2029-09-01', 'GVA'), (6, 'Urs Gantenbein', '2026-12-24', 'BSL'), (7, 'Petra Lüthi', '2027-10-10', 'ZRH');
insert into cons
select 'C' || 26000 + n,
    (array[101, 102, 103, 104, 105, 106, 107, 102, 107, 102, 101])[1 + (n * 7919 % 1009) % 11],
    (array['ZRH', 'BSL', 'GVA', 'ZRH', 'LUG', 'BSL', 'ZRH'])[1 + (n * 3571 % 991) % 7],
    (array['Bern', 'Milano', 'Stuttgart', 'Lyon', 'Bern', 'Chur', 'Freiburg', 'Milano', 'Sion', 'Bern'])[1 + (n * 2741 % 983) % 10],
    120 + (n * 6007 % 997) * 11.5,
    1 + (n * 6007 % 997) / 60,
    (n * 17) % 9 = 0,
    case when n > 118 then 'planned' when n > 108 then 'in transit' when n % 29 = 0 then 'damaged' else 'delivered' end,
    date '2025-10-01' + (n * 180 / 130),
    case when n > 108 then null else date '2025-10-01' + (n * 180 / 130) + 1 + (n * 5) % 4 end,
    90 + (n * 6007 % 997) * 1.85
from generate_series(1, 130) as n;
insert into trip
select n,
    (array['ZH 204 118', 'BS 55 120', 'ZH 310 990', 'GE 118 23', 'TI 14 650', 'BS 61 004', 'ZH 77 301', 'ZH 204 118', 'GE 402 77'])[1 + (n * 1511 % 977) % 9],
    (array[1, 2, 3, 5, 6, 1, 7, 1, 2, 5])[1 + (n * 4447 % 1013) % 10],
    date '2025-12-01' + (n * 108 / 90),
    40 + (n * 6007 % 997) % 460,
    45 + ((n * 6007 % 997) % 460) * 9 / 10 + n % 12
from generate_series(1, 90) as n;
