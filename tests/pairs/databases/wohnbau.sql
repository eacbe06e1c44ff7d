-- Eine Wohnungsgenossenschaft. Beträge in Euro. Stichtag 2026-03-18.
create table haeuser (
    haus_id int primary key,
    strasse text not null,
    ort text not null,
    baujahr int not null
);
create table wohnungen (
    whg_nr text primary key,
    haus_id int not null references haeuser,
    etage int not null,
    zimmer numeric(3, 1) not null,
    flaeche_qm numeric(6, 1) not null,
    kaltmiete numeric(8, 2) not null
);
create table mitglieder (
    mitglied_id int primary key,
    vorname text not null,
    nachname text not null,
    beitritt date not null,
    anteile int not null
);
create table mietvertraege (
    vertrag_id int primary key,
    whg_nr text not null references wohnungen,
    mitglied_id int not null references mitglieder,
    beginn date not null,
    ende date
);
create table zahlungen (
    zahlung_id int primary key,
    vertrag_id int not null references mietvertraege,
    faellig_am date not null,
    betrag numeric(8, 2) not null,
    bezahlt_am date
);
create table reparaturen (
    auftrag_id int primary key,
    whg_nr text not null references wohnungen,
    gewerk text not null,
    gemeldet_am date not null,
    erledigt_am date,
    kosten numeric(8, 2)
);
insert into haeuser values (1, 'Lindenallee 12', 'Potsdam', 1928), (2, 'Am Kanal 3', 'Potsdam', 1974), (3, 'Schillerstraße 40', 'Werder', 1996), (4, 'Seeblick 7', 'Werder', 2019), (5, 'Hofgasse 1', 'Teltow', 1905);
insert into wohnungen
select h || '-' || lpad(n::text, 2, '0'), h, (n - 1) / 3, 1.5 + (h * 7 + n * 5) % 7 * 0.5, 34 + (h * 7 + n * 5) % 7 * 13.5 + n * 0.7 + h * 0.3,
    round(((34 + (h * 7 + n * 5) % 7 * 13.5 + n * 0.7 + h * 0.3) * (array[8.9, 7.4, 9.6, 12.8, 6.9])[h])::numeric, 2)
from generate_series(1, 5) as h, generate_series(1, 10) as n where n <= 4 + (h * 3) % 7;
insert into mitglieder
select n, (array['Aylin', 'Bernd', 'Carla', 'Dieter', 'Emine', 'Falk', 'Gisela', 'Holger', 'Ilse'])[1 + (n * 4) % 9],
    (array['Adler', 'Böhme', 'Czerny', 'Dietrich', 'Engel', 'Fuchs', 'Grünwald', 'Hartmann', 'Ittner', 'Jäger'])[1 + (n * 3) % 10],
    date '1988-03-01' + n * 331, 1 + (n * 13) % 8
from generate_series(1, 40) as n;
insert into mietvertraege
select row_number() over (order by whg_nr), whg_nr, row_number() over (order by whg_nr),
    date '2009-02-01' + (row_number() over (order by whg_nr))::int * 170,
    case when row_number() over (order by whg_nr) % 12 = 0 then date '2026-05-31' end
from wohnungen where right(whg_nr, 2) <> '03';
insert into zahlungen
select row_number() over (order by m, v.vertrag_id), v.vertrag_id, m::date, w.kaltmiete + 140 + extract(month from m) * 2,
    case when (v.vertrag_id * 5 + extract(month from m)::int) % 23 = 0 then null else m::date + (v.vertrag_id * 7 % 9)::int - 3 end
from generate_series(timestamp '2025-11-03', timestamp '2026-03-03', interval '1 month') as m, mietvertraege as v join wohnungen as w using (whg_nr) where v.beginn < m;
insert into reparaturen
select n, w.whg_nr, (array['Heizung', 'Sanitär', 'Elektro', 'Fenster', 'Sanitär', 'Heizung', 'Maler', 'Sanitär'])[1 + (n * 1511 % 977) % 8],
    date '2025-07-01' + n * 5 / 2 * 2, case when n > 45 or n % 14 = 0 then null else date '2025-07-01' + n * 5 / 2 * 2 + 1 + (n * 11) % 25 end,
    case when n > 45 or n % 14 = 0 then null else 60 + (n * 6007 % 997) * 1.2 end
from generate_series(1, 51) as n join (select whg_nr, row_number() over (order by whg_nr) as r from wohnungen) as w on w.r = 1 + (n * n * 3) % 37;
