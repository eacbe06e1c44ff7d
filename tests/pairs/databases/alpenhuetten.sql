-- Hüttenbuchungen eines zweisprachigen Vereins: Tabellen und Spalten auf Deutsch und Französisch. Heute ist der 2026-08-19.
create table huetten (
    id int primary key,
    nom text not null,
    kanton text not null,
    altitude_m int not null,
    schlafplaetze int not null,
    gardien text,
    ganzjaehrig boolean not null,
    prix_nuit numeric(6, 2) not null
);
create table membres (
    mitglied_nr int primary key,
    nom text not null,
    ort text not null,
    langue text not null,
    beitritt date not null,
    cotisation_payee boolean not null,
    geburtsjahr int
);
create table buchungen (
    id int primary key,
    hutte_id int not null references huetten,
    mitglied_nr int not null references membres,
    ankunft date not null,
    nuits int not null,
    betrag numeric(8, 2) not null,
    statut text not null,
    remarque text
);
create table reparations (
    id int primary key,
    hutte_id int not null references huetten,
    art text not null,
    gemeldet_am date not null,
    fini_le date,
    kosten numeric(8, 2)
);
insert into huetten select g, (array['Steinbockhütte', 'Cabane des Aigles', 'Gletscherblick', 'Cabane du Mont Fort', 'Murmelhütte', 'Refuge des Arolles', 'Adlerhorst', 'Cabane Rambert'])[g], (array['Wallis', 'Waadt', 'Bern', 'Wallis', 'Uri'])[1 + g % 5], 1710 + (g * 331) % 1490, 12 + (g * 19) % 77, (array['Odile Favre', 'Beat Zurbriggen', null, 'Reto Kälin', 'Luc Berger'])[1 + g % 5], g % 3 = 0, 26 + (g * 5.5) from generate_series(1, 8) g;
insert into membres select 4000 + g, (array['Anja Lüthi', 'Benoît Rey', 'Claudia Moser', 'Denis Favre', 'Esther Graf', 'Florence Roux', 'Gilles Python', 'Heidi Frei', 'Isabelle Clerc', 'Jakob Stucki', 'Karine Blanc', 'Lukas Odermatt'])[g], (array['Sion', 'Bern', 'Lausanne', 'Brig'])[1 + g % 4], (array['fr', 'de'])[1 + g % 2], date '2009-04-12' + g * 491, g % 4 <> 1, case when g % 5 <> 0 then 1951 + g * 4 end from generate_series(1, 12) g;
insert into buchungen select g, 1 + (g * 3) % 7, 4001 + (g * 5) % 11, date '2025-12-20' + g * 6, 1 + g % 4, 31 + (g * 97) % 420, (array['bestätigt', 'bestätigt', 'annulliert', 'offen'])[1 + g % 4], case when g % 7 = 0 then (array['végétarien', 'spät', 'mit Hund'])[1 + g % 3] end from generate_series(1, 45) g;
insert into reparations select g, 1 + (g * 5) % 6, (array['toit', 'Wasser', 'chauffage', 'Strom'])[1 + g % 4], date '2025-03-03' + g * 27, case when g % 4 > 0 then date '2025-03-20' + g * 28 end, case when g % 5 > 0 then 120 + (g * 653) % 9000 end from generate_series(1, 17) g;
