-- A small vocational school. Heute ist der 2026-02-25. Today is 2026-02-25.
create table lehrkraefte (
    kuerzel text primary key,
    nachname text not null,
    vorname text not null,
    eintritt date not null,
    stunden_woche numeric(4, 1) not null,
    verbeamtet boolean not null
);
create table klassen (
    klasse text primary key,
    klassenleitung text references lehrkraefte,
    beruf text not null,
    raum text,
    beginn date not null
);
create table schueler (
    schueler_nr int primary key,
    klasse text not null references klassen,
    name text not null,
    wohnort text not null,
    geburtsdatum date not null,
    betrieb text,
    fehltage int not null,
    volljaehrig boolean not null
);
create table noten (
    id int primary key,
    schueler_nr int not null references schueler,
    fach text not null,
    note numeric(2, 1) not null,
    datum date not null,
    lehrkraft text not null references lehrkraefte,
    nachgeschrieben boolean not null
);
insert into lehrkraefte select (array['BRA', 'CEL', 'DOR', 'EHL', 'FUH', 'GRO'])[g], (array['Brandner', 'Celik', 'Dorn', 'Ehlers', 'Fuhrmann', 'Grote'])[g], (array['Petra', 'Kemal', 'Sigrid', 'Uwe', 'Nele', 'Tim'])[g], date '2001-08-15' + g * 1390, 11.5 + (g * 17) % 16, g % 3 <> 2 from generate_series(1, 6) g;
insert into klassen select (array['TI24a', 'TI25a', 'EL24b', 'EL25a', 'MA25c', 'KO23a'])[g], (array['BRA', 'CEL', 'DOR', null, 'FUH', 'BRA'])[g], (array['Tischler', 'Tischler', 'Elektroniker', 'Elektroniker', 'Maler', 'Koch'])[g], (array['101', '102', null, '204', 'W3', 'K1'])[g], date '2023-08-20' + g * 160 from generate_series(1, 6) g;
insert into schueler select 800 + g, (array['TI24a', 'TI25a', 'EL24b', 'EL25a', 'MA25c'])[1 + g % 5], (array['Ahmet Kurt', 'Britta Voss', 'Chris Lange', 'Dana Rehm', 'Emil Stark', 'Fatma Özer', 'Gregor Thiel', 'Hanna Uhl', 'Igor Petrow', 'Jana Wirth', 'Karim Saidi', 'Lea Zorn', 'Marek Nowak', 'Nina Pohl', 'Oskar Rahn', 'Paula Seitz', 'Quirin Auer', 'Rosa Bauer', 'Sven Dahl', 'Tara Engel'])[g], (array['Celle', 'Uelzen', 'Gifhorn', 'Celle'])[1 + g % 4], date '2005-02-11' + g * 97, case when g % 6 <> 0 then (array['Holzbau Reiter', 'Elektro Blitz', 'Farben Kunz', 'Möbel Adam'])[1 + g % 4] end, (g * 7) % 23, g < 13 from generate_series(1, 20) g;
insert into noten select g, 801 + (g * 3) % 19, (array['Mathematik', 'Deutsch', 'Fachkunde', 'Sport', 'Politik'])[1 + g % 5], 1 + (g * 13) % 50 / 10.0, date '2025-09-10' + g * 2, (array['BRA', 'CEL', 'DOR', 'EHL', 'FUH'])[1 + (g * 3) % 5], g % 9 = 0 from generate_series(1, 76) g;
