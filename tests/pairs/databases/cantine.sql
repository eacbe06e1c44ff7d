-- La cantine d'un groupe scolaire. Prix en centimes d'euro. Date du jour : 2026-03-18.
create table classes (
    id int primary key,
    libelle text not null,
    niveau text not null,
    enseignant text not null
);
create table eleves (
    id int primary key,
    prenom text not null,
    nom text not null,
    classe_id int not null references classes,
    date_naissance date not null,
    regime text,
    allergie text
);
create table plats (
    id int primary key,
    intitule text not null,
    categorie text not null,
    calories int not null,
    vegetarien boolean not null,
    cout_centimes int not null
);
create table menus (
    jour date not null,
    plat_id int not null references plats,
    portions_preparees int not null,
    portions_jetees int not null,
    primary key (jour, plat_id)
);
create table repas (
    id int primary key,
    eleve_id int not null references eleves,
    jour date not null,
    tarif_centimes int not null,
    annule boolean not null default false
);
create table factures (
    numero text primary key,
    eleve_id int not null references eleves,
    emise_le date not null,
    montant_centimes int not null,
    payee_le date
);
insert into classes values (1, 'CP A', 'CP', 'Mme Ferrand'), (2, 'CE1 A', 'CE1', 'M. Oudin'), (3, 'CE1 B', 'CE1', 'Mme Lacaze'), (4, 'CM1', 'CM1', 'M. Benali'), (5, 'CM2', 'CM2', 'Mme Rousset'), (6, 'ULIS', 'CM1', 'M. Tardy');
insert into eleves
select n, (array['Adèle', 'Basile', 'Chiara', 'Djamel', 'Eva', 'Félix', 'Gaspard', 'Hana', 'Inès', 'Jules', 'Kenza'])[1 + (n * 6) % 11], (array['Morel', 'Lefèvre', 'Nguyen', 'Haddou', 'Garnier', 'Perrin', 'Da Silva'])[1 + (n * 4) % 7],
    (array[1, 2, 3, 4, 5, 1, 4, 2, 5, 5])[1 + (n * 7919 % 1009) % 10], date '2015-02-10' + n * 44,
    case when n % 6 = 0 then 'végétarien' when n % 11 = 0 then 'sans porc' end, case n % 13 when 0 then 'arachides' when 5 then 'lait' when 9 then 'gluten' end
from generate_series(1, 50) as n;
insert into plats values
    (1, 'Carottes râpées', 'entrée', 90, true, 35), (2, 'Soupe de potiron', 'entrée', 110, true, 42), (3, 'Gratin de courgettes', 'plat', 310, true, 120), (4, 'Poulet rôti', 'plat', 420, false, 185), (5, 'Poisson pané', 'plat', 390, false, 170),
    (6, 'Lasagnes aux épinards', 'plat', 460, true, 150), (7, 'Couscous', 'plat', 510, false, 195), (8, 'Compote de pommes', 'dessert', 95, true, 30), (9, 'Mousse au chocolat', 'dessert', 260, true, 55), (10, 'Yaourt nature', 'dessert', 80, true, 22), (11, 'Tarte aux poires', 'dessert', 290, true, 70), (12, 'Boeuf bourguignon', 'plat', 480, false, 240);
insert into menus
select d::date, p, 30 + (k * 2741 % 983) % 18, (k * 3571 % 991 + p * 7) % 11
from (select d, row_number() over (order by d)::int as k from generate_series(timestamp '2026-01-05', timestamp '2026-03-27', interval '1 day') as d where extract(isodow from d) in (1, 2, 4, 5)) as s,
    lateral (values ((array[1, 2, 1])[1 + s.k % 3]), ((array[3, 4, 5, 6, 7, 4])[1 + s.k % 6]), ((array[8, 9, 10, 11, 8])[1 + s.k % 5])) as t(p);
insert into repas
select n, 1 + (n * n * 5 + n) % 48, (date '2026-01-05' + (n / 4) * 7 / 4 % 80), (array[320, 180, 450, 320])[1 + (n * 5) % 4], n % 15 = 0 from generate_series(1, 190) as n;
insert into factures
select 'F-' || to_char(m, 'YYMM') || '-' || lpad(e.id::text, 2, '0'), e.id, m::date, 2400 + (e.id * 6007 % 97) * 55 + extract(month from m)::int * 40,
    case when (e.id * 3 + extract(month from m)::int) % 7 = 0 then null else m::date + 2 + (e.id * 5 % 31) end
from generate_series(timestamp '2025-12-01', timestamp '2026-03-01', interval '1 month') as m, eleves as e where e.id % 2 = 1;
