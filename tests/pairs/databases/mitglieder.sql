-- Die Kartei eines Rudervereins. Heute ist der 2026-03-02.
create table trainer (trainer_id int primary key, name text not null, lizenz text not null, geburtsjahr int not null, stundensatz numeric(6, 2) not null);
create table mitglieder (mitglied_id int primary key, name text not null, ort text not null, abteilung text not null, mitglied_seit date not null, jahresbeitrag numeric(8, 2) not null, trainer_id int references trainer);
create table boote (boot_id int primary key, bootsname text not null, klasse text not null, baujahr int not null, laenge_cm int not null, preis numeric(10, 2) not null);
create table ausleihen (ausleihe_id int primary key, boot_id int not null references boote, mitglied_id int not null references mitglieder, geliehen_am date not null, faellig_am date not null, zurueck_am date, status text not null);
insert into trainer values (1, 'Anke Lüders', 'A', 1969, 42), (2, 'Bernd Otto', 'B', 1981, 35), (3, 'Carla Voss', 'A', 1990, 38.5), (4, 'Dirk Ehlers', 'C', 1958, 30);
insert into mitglieder
select n, (array['Petra','Uwe','Sina','Holger','Maren','Jens','Lale'])[1 + n % 7] || ' ' || (array['Albers','Behn','Claussen','Diercks','Ebel'])[1 + n % 5], (array['Plön','Eutin','Kiel','Preetz'])[1 + n % 4],
    (array['Jugend','Breitensport','Rennsport'])[1 + n % 3], date '2012-04-01' + n * 149, 60 + (n * 37) % 180 + n, case when n % 6 = 0 then null else 1 + least(n % 5, 2) end
from generate_series(1, 34) n;
insert into boote values (1, 'Möwe', 'Einer', 2004, 820, 6100), (2, 'Seeadler', 'Vierer', 1997, 1260, 21500), (3, 'Forelle', 'Zweier', 2015, 1020, 14300), (4, 'Hecht', 'Achter', 2021, 1750, 48200), (5, 'Libelle', 'Einer', 2019, 810, 8700), (6, 'Wal', 'Achter', 1988, 1710, 9900);
insert into ausleihen
select n, 1 + least(n % 8, 4), 1 + (n * 7) % 30, date '2025-04-01' + n * 3, date '2025-04-01' + n * 3 + 7, case when n % 5 > 0 then date '2025-04-01' + n * 3 + 4 + n % 8 end, (array['zurück','offen','verlängert','zurück'])[1 + n % 4]
from generate_series(1, 70) n;
