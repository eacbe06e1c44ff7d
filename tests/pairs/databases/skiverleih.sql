-- Ein Skiverleih: Filialen, Ausrüstung, Kunden und Verleihe. Heute ist der 2026-02-16.
create table filialen (id int primary key, name text not null, ort text not null, mitarbeiter int not null);
create table geraete (
    id int primary key, bezeichnung text not null, art text not null, filiale_id int not null references filialen, preis_pro_tag numeric(6, 2) not null, laenge_cm int, gekauft_am date not null
);
create table kunden (id int primary key, name text not null, wohnort text not null, kunde_seit date not null, geburtsjahr int);
create table verleihe (
    id int primary key, kunde_id int not null references kunden, geraet_id int not null references geraete, tage int not null, ausgeliehen_am date not null, status text not null
);
insert into filialen values (1, 'Talstation', 'Sölden', 6), (2, 'Dorfplatz', 'Lech', 4), (3, 'Gipfelshop', 'Sölden', 2);
insert into geraete values
    (1, 'Carver 170', 'Ski', 1, 28.00, 170, '2023-11-02'), (2, 'Carver 160', 'Ski', 1, 26.00, 160, '2023-11-02'), (3, 'Snowboard Peak', 'Snowboard', 2, 32.00, 155, '2024-10-15'),
    (4, 'Rodel Classic', 'Rodel', 3, 12.00, null, '2021-12-01'), (5, 'Tourenski Alp', 'Ski', 2, 38.00, 175, '2025-09-20'), (6, 'Helm Basic', 'Helm', 1, 6.50, null, '2022-10-10');
insert into kunden values
    (1, 'Anna Lechner', 'München', '2019-12-27', 1984), (2, 'Bernd Oster', 'Ulm', '2020-01-11', 1971), (3, 'Clara Winkler', 'München', '2022-02-05', 2001), (4, 'Dirk Sommer', 'Kempten', '2024-12-30', 1990),
    (5, 'Eva Brandt', 'Ulm', '2026-01-03', null);
insert into verleihe values
    (1, 1, 1, 5, '2026-01-02', 'zurück'), (2, 1, 6, 5, '2026-01-02', 'zurück'), (3, 2, 5, 2, '2026-01-17', 'zurück'), (4, 3, 3, 3, '2026-02-06', 'überfällig'), (5, 4, 2, 6, '2026-02-13', 'offen'),
    (6, 4, 6, 6, '2026-02-13', 'offen'), (7, 5, 4, 1, '2026-01-05', 'zurück'), (8, 2, 1, 4, '2025-12-28', 'zurück');
