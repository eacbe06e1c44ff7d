-- Ferienwohnungen an der See, mit Buchungen. Preise in Euro. Heute ist der 2026-07-15.
create table wohnungen (
    wohnung_id int primary key,
    name text not null,
    ort text not null,
    zimmer int not null,
    flaeche_qm numeric(5, 1) not null,
    preis_pro_nacht numeric(7, 2) not null,
    baujahr int not null,
    haustiere_erlaubt boolean not null,
    renoviert_am date
);
create table gaeste (
    gast_id int primary key,
    name text not null,
    land text not null,
    geboren_am date,
    stammgast boolean not null
);
create table buchungen (
    buchung_nr int primary key,
    wohnung_id int not null references wohnungen,
    gast_id int not null references gaeste,
    anreise date not null,
    abreise date not null,
    personen int not null,
    gesamtpreis numeric(8, 2) not null,
    bezahlt_am date,
    storniert boolean not null
);
insert into wohnungen values (1, 'Dünenblick', 'Sylt', 3, 78.5, 165, 1998, true, '2022-03-01'), (2, 'Möwennest', 'Büsum', 2, 46, 82, 2010, false, null), (3, 'Leuchtturm 4', 'Sylt', 1, 31.5, 95, 1974, false, '2019-11-15'), (4, 'Kapitänshaus', 'Husum', 5, 142, 230, 1889, true, '2024-02-10'), (5, 'Strandkoje', 'Büsum', 2, 51, 88, 2021, true, null), (6, 'Deichtraum', 'Husum', 4, 96, 140, 2005, true, '2015-06-20');
insert into gaeste values (1, 'Monika Berger', 'Deutschland', '1958-02-03', true), (2, 'Pierre Colin', 'Frankreich', '1979-10-17', false), (3, 'Jens Tiedemann', 'Deutschland', '1991-05-28', true), (4, 'Annelies Bakker', 'Niederlande', '1966-12-09', false), (5, 'Uwe Riedel', 'Deutschland', null, false), (6, 'Sofie Holm', 'Dänemark', '2000-01-22', false);
insert into buchungen values
    (8001, 1, 1, '2026-05-02', '2026-05-16', 2, 2310, '2026-04-20', false), (8002, 2, 2, '2026-06-06', '2026-06-13', 2, 574, '2026-06-01', false), (8003, 4, 4, '2026-06-20', '2026-07-04', 6, 3220, '2026-06-15', false), (8004, 3, 3, '2026-07-01', '2026-07-08', 1, 665, null, true), (8005, 1, 3, '2026-07-11', '2026-07-25', 4, 2310, null, false),
    (8006, 5, 1, '2026-08-01', '2026-08-22', 3, 1848, null, false), (8007, 6, 4, '2026-08-08', '2026-08-15', 5, 980, '2026-07-10', false), (8008, 2, 6, '2025-09-05', '2025-09-12', 2, 560, '2025-09-01', false), (8009, 4, 1, '2025-12-27', '2026-01-03', 8, 1700, '2025-12-20', false), (8010, 1, 2, '2026-06-10', '2026-06-20', 2, 1650, '2026-06-02', false);
