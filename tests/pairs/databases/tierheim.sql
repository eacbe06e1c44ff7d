-- Ein Tierheim. Beträge in Euro, Gewichte in Kilogramm. Stichtag 2025-09-22.
create table arten (
    art_id int primary key,
    bezeichnung text not null
);
create table tiere (
    tier_nr int primary key,
    rufname text not null,
    art_id int not null references arten,
    rasse text,
    geb_datum date,
    geschlecht text not null,
    gewicht_kg numeric(5, 2) not null,
    aufnahme date not null,
    aufnahmegrund text not null,
    vermittelt_am date,
    zwinger text
);
create table personen (
    person_id int primary key,
    name text not null,
    plz text not null,
    ort text not null,
    rolle text not null
);
create table vermittlungen (
    vermittlung_id int primary key,
    tier_nr int not null references tiere,
    person_id int not null references personen,
    datum date not null,
    schutzgebuehr numeric(7, 2) not null,
    rueckgabe boolean not null
);
create table behandlungen (
    behandlung_id int primary key,
    tier_nr int not null references tiere,
    datum date not null,
    art_der_behandlung text not null,
    kosten numeric(7, 2) not null,
    dauer_min int not null
);
create table spenden (
    spende_id int primary key,
    person_id int references personen,
    datum date not null,
    betrag numeric(8, 2) not null,
    zweck text not null
);
insert into arten values (1, 'Hund'), (2, 'Katze'), (3, 'Kaninchen'), (4, 'Wellensittich'), (5, 'Schildkröte'), (6, 'Frettchen');
insert into tiere
select n, (array['Balu', 'Mieze', 'Flocke', 'Rex', 'Luna', 'Krümel', 'Paula', 'Kasimir', 'Nala', 'Bruno', 'Socke', 'Frieda', 'Zorro', 'Minka', 'Oskar', 'Hexe', 'Theo', 'Lotte', 'Anton', 'Wanda', 'Pünktchen', 'Fiete', 'Gustav', 'Emmi', 'Kira', 'Moritz', 'Tilda', 'Rocky', 'Schnurri', 'Ella', 'Hasso', 'Pepper', 'Momo', 'Susi', 'Käthe', 'Sammy', 'Jule', 'Bobby', 'Lilly', 'Max', 'Trixi', 'Karlchen', 'Greta', 'Felix', 'Mogli', 'Dackeline', 'Urmel', 'Nero'])[n],
    (array[1, 2, 3, 1, 2, 2, 1, 5, 1, 4, 2])[1 + (n * 7919 % 1009) % 11],
    case when (array[1, 2, 3, 1, 2, 2, 1, 5, 1, 4, 2])[1 + (n * 7919 % 1009) % 11] = 1 then (array['Mischling', 'Dackel', 'Schäferhund', 'Mischling'])[1 + n % 4] when n % 3 = 0 then null else 'Hauskatze' end,
    case when n % 8 = 0 then null else date '2012-04-01' + n * 97 end, (array['m', 'w', 'w'])[1 + n % 3], 0.4 + ((n * 6007 % 997) % 330) * 0.1, date '2024-10-05' + n * 7,
    (array['Fundtier', 'Abgabe', 'Fundtier', 'Beschlagnahme', 'Abgabe', 'Todesfall des Halters', 'Fundtier'])[1 + (n * 2741 % 983) % 7],
    null, case when n % 7 = 3 then null else 'Z' || 1 + n % 12 end
from generate_series(1, 48) as n;
insert into personen values
    (1, 'Gudrun Holtkamp', '48143', 'Münster', 'Ehrenamt'), (2, 'Dr. Sven Overbeck', '48145', 'Münster', 'Tierarzt'), (3, 'Kemal Yildirim', '48231', 'Warendorf', 'Adoptant'), (4, 'Annette Pohl', '48151', 'Münster', 'Adoptant'),
    (5, 'Rolf Kessler', '59320', 'Ennigerloh', 'Spender'), (6, 'Svenja Tietz', '48231', 'Warendorf', 'Ehrenamt'), (7, 'Familie Ostermann', '48346', 'Ostbevern', 'Adoptant'), (8, 'Jannik Brüggemann', '48155', 'Münster', 'Spender'), (9, 'Zoofachmarkt Lehmkuhl', '59302', 'Oelde', 'Spender'), (10, 'Marta Sobczak', '48147', 'Münster', 'Adoptant');
insert into vermittlungen
select row_number() over (order by t.tier_nr), t.tier_nr, (array[3, 4, 7, 10, 4, 3, 7, 7])[1 + (t.tier_nr * 5) % 8], t.aufnahme + 20 + (t.tier_nr * 11) % 75, (array[280, 120, 35, 15, 60, 50])[t.art_id] + (t.tier_nr % 3) * 10, t.tier_nr % 14 = 1
from tiere as t where t.tier_nr % 5 in (1, 2, 4) and t.tier_nr < 40;
update tiere set vermittelt_am = v.datum, zwinger = null from vermittlungen as v where v.tier_nr = tiere.tier_nr and not v.rueckgabe;
insert into behandlungen
select n, 1 + (n * n * 3 + n) % 47, date '2025-01-07' + n * 32 / 10, (array['Impfung', 'Kastration', 'Wurmkur', 'Zahnbehandlung', 'Impfung', 'Röntgen', 'Impfung', 'Wurmkur'])[1 + (n * 1511 % 977) % 8], 18 + (n * 6007 % 997) % 23 * 12.5, 10 + (n * 3571 % 991) % 12 * 5
from generate_series(1, 80) as n;
insert into spenden
select n, case when n % 4 = 0 then null else (array[5, 8, 9, 4, 5, 9])[1 + (n * 2741 % 983) % 6] end, date '2025-01-04' + n * 52 / 10, (array[20, 50, 15, 100, 250, 30, 500, 75])[1 + (n * 4447 % 1013) % 8], (array['Futter', 'allgemein', 'Tierarztkosten', 'allgemein', 'Neubau Katzenhaus'])[1 + (n * 7919 % 1009) % 5]
from generate_series(1, 50) as n;
