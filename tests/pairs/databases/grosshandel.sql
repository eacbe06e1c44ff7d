-- Export aus dem Warenwirtschaftssystem eines Grosshandels fuer Fahrradteile. Preise in Euro. Heute ist der 2026-02-18.
create table lieferanten (
    lief_nr int primary key,
    firma text not null,
    ort text not null,
    land char(2) not null,
    skonto_prozent numeric(4, 1)
);
create table artikel (
    art_nr text primary key,
    bezeichnung text not null,
    warengruppe text not null,
    ek_preis numeric(8, 2) not null,
    vk_preis numeric(8, 2) not null,
    bestand int not null,
    mindestbestand int not null,
    gewicht_kg numeric(6, 2),
    lief_nr int references lieferanten,
    angelegt_am date not null,
    gesperrt boolean not null
);
create table kunden (
    kd_nr int primary key,
    name text not null,
    plz text not null,
    ort text not null,
    kunde_seit date not null,
    umsatz_vorjahr numeric(10, 2)
);
create table auftraege (
    auftrag_nr int primary key,
    kd_nr int not null references kunden,
    datum date not null,
    status text not null,
    lieferdatum date,
    sachbearbeiter text not null
);
create table positionen (
    auftrag_nr int not null references auftraege,
    pos int not null,
    art_nr text not null references artikel,
    menge int not null,
    einzelpreis numeric(8, 2) not null,
    primary key (auftrag_nr, pos)
);
insert into lieferanten values
    (701, 'Radtechnik Hollmann', 'Bielefeld', 'DE', 2.0), (702, 'Ciclo Forte', 'Bergamo', 'IT', null), (703, 'Velo Parts Lyon', 'Lyon', 'FR', 3.0),
    (704, 'Kettenwerk Süd', 'Augsburg', 'DE', 2.5), (705, 'Nordlicht Lampen', 'Flensburg', 'DE', null);
insert into artikel values
    ('K-1001', 'Kette 10-fach', 'Antrieb', 11.20, 24.90, 340, 100, 0.28, 704, '2019-04-02', false), ('K-1002', 'Kette 12-fach', 'Antrieb', 23.50, 49.00, 85, 90, 0.26, 704, '2022-01-17', false),
    ('B-2001', 'Bremsbelag Scheibe', 'Bremsen', 4.10, 11.50, 910, 300, 0.04, 701, '2018-09-24', false), ('B-2002', 'Bremshebel links', 'Bremsen', 13.80, 29.90, 40, 25, 0.19, 702, '2020-03-11', false),
    ('L-3001', 'Scheinwerfer 80 Lux', 'Beleuchtung', 31.00, 64.90, 62, 30, 0.15, 705, '2021-10-05', false), ('L-3002', 'Rücklicht Akku', 'Beleuchtung', 9.90, 22.00, 0, 40, 0.06, 705, '2023-06-30', false),
    ('R-4001', 'Laufrad 28 Zoll', 'Räder', 58.00, 119.00, 18, 20, 1.95, 703, '2017-02-13', false), ('R-4002', 'Schlauch 28 Zoll', 'Räder', 1.90, 5.90, 1250, 500, 0.11, 703, '2017-02-14', false),
    ('S-5001', 'Sattel Komfort', 'Sitze', 18.40, 39.90, 55, 20, 0.62, 702, '2025-11-20', false), ('S-5002', 'Sattelstütze Carbon', 'Sitze', 71.00, 149.00, 7, 5, 0.21, 702, '2024-05-08', true),
    ('P-6001', 'Pedale Alu', 'Antrieb', 12.70, 27.50, 130, 60, 0.38, null, '2020-08-19', false);
insert into kunden values
    (3001, 'Fahrrad Petersen', '24937', 'Flensburg', '2012-05-01', 18450.00), (3002, 'Zweirad Kolb', '86150', 'Augsburg', '2016-11-15', 9210.50), (3003, 'Die Speiche', '04109', 'Leipzig', '2019-02-20', 27300.00),
    (3004, 'Rad & Tat', '04277', 'Leipzig', '2021-07-07', 4120.75), (3005, 'Bike Station Ulm', '89073', 'Ulm', '2023-03-30', null), (3006, 'Velo Weimar', '99423', 'Weimar', '2025-12-01', null);
insert into auftraege values
    (9001, 3001, '2025-11-03', 'geliefert', '2025-11-10', 'Brandt'), (9002, 3003, '2025-11-18', 'geliefert', '2025-11-25', 'Yilmaz'), (9003, 3003, '2025-12-04', 'geliefert', '2025-12-18', 'Brandt'),
    (9004, 3002, '2025-12-09', 'storniert', null, 'Yilmaz'), (9005, 3004, '2026-01-12', 'geliefert', '2026-01-16', 'Kaya'), (9006, 3001, '2026-01-20', 'geliefert', '2026-02-02', 'Brandt'),
    (9007, 3003, '2026-01-27', 'offen', null, 'Yilmaz'), (9008, 3005, '2026-02-03', 'offen', null, 'Kaya'), (9009, 3001, '2026-02-10', 'offen', null, 'Brandt'), (9010, 3003, '2026-02-16', 'offen', null, 'Brandt');
insert into positionen values
    (9001, 1, 'K-1001', 40, 22.00), (9001, 2, 'R-4002', 200, 5.10), (9002, 1, 'B-2001', 120, 10.20), (9002, 2, 'L-3001', 10, 60.00), (9003, 1, 'R-4001', 6, 110.00),
    (9003, 2, 'K-1002', 15, 46.00), (9004, 1, 'S-5001', 8, 39.90), (9005, 1, 'R-4002', 60, 5.90), (9005, 2, 'P-6001', 10, 27.50), (9006, 1, 'L-3002', 25, 20.00),
    (9006, 2, 'L-3001', 12, 61.50), (9007, 1, 'K-1001', 60, 21.50), (9007, 2, 'B-2002', 10, 28.00), (9008, 1, 'S-5002', 2, 149.00), (9009, 1, 'R-4001', 3, 115.00), (9010, 1, 'B-2001', 80, 10.40);
