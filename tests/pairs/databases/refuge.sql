-- Refuges de montagne et leurs nuitées. Prix en euros. Aujourd'hui : 2026-07-20.
create table massifs (
    id int primary key,
    nom text not null,
    departement text not null
);
create table refuges (
    id int primary key,
    massif_id int not null references massifs,
    nom text not null,
    altitude int not null,
    places int not null,
    gardien text,
    ouvert_hiver boolean not null,
    tarif numeric(6, 2) not null,
    construit_en int
);
create table randonneurs (
    id int primary key,
    nom text not null,
    ville text not null,
    pays text not null,
    naissance date,
    adherent boolean not null
);
create table reservations (
    id int primary key,
    refuge_id int not null references refuges,
    randonneur_id int not null references randonneurs,
    arrivee date not null,
    nuits int not null,
    personnes int not null,
    montant numeric(8, 2) not null,
    etat text not null
);
insert into massifs values (1, 'Vanoise', 'Savoie'), (2, 'Écrins', 'Isère'), (3, 'Mercantour', 'Alpes-Maritimes'), (4, 'Chartreuse', 'Isère');
insert into refuges values
    (1, 1, 'Refuge du Lac Noir', 2480, 64, 'Solange Berthet', false, 24.50, 1936), (2, 1, 'La Grande Moraine', 2750, 38, 'Yves Carrier', false, 27.00, 1968), (3, 2, 'Pré des Marmottes', 1920, 90, 'Chloé Danve', true, 21.00, 1999),
    (4, 2, 'Nid d''Aigle', 3105, 22, null, false, 32.00, 1951), (5, 3, 'Refuge des Mélèzes', 2110, 45, 'Paul Isnard', true, 19.50, null), (6, 3, 'Col de la Lune', 2360, 30, 'Inès Farel', false, 22.00, 2014);
insert into randonneurs values
    (1, 'Agathe Morin', 'Lyon', 'France', '1991-03-12', true), (2, 'Bastien Leroux', 'Grenoble', 'France', '1978-11-05', true), (3, 'Carla Conti', 'Turin', 'Italie', '1985-06-30', false), (4, 'Dirk Maes', 'Gand', 'Belgique', null, false),
    (5, 'Élodie Sage', 'Grenoble', 'France', '2002-01-23', true), (6, 'Frank Lutz', 'Fribourg', 'Allemagne', '1969-08-17', false), (7, 'Giulia Riva', 'Cuneo', 'Italie', '1996-12-09', false);
insert into reservations values
    (1, 1, 1, '2026-06-13', 1, 2, 49.00, 'confirmée'), (2, 1, 2, '2026-06-20', 2, 4, 196.00, 'confirmée'), (3, 3, 3, '2026-06-27', 3, 2, 126.00, 'annulée'), (4, 3, 5, '2026-07-04', 1, 6, 126.00, 'confirmée'),
    (5, 2, 2, '2026-07-11', 1, 2, 54.00, 'confirmée'), (6, 4, 1, '2026-07-14', 1, 1, 32.00, 'en attente'), (7, 1, 5, '2026-07-18', 2, 3, 147.00, 'confirmée'), (8, 5, 7, '2026-08-01', 4, 2, 156.00, 'en attente'), (9, 3, 2, '2025-12-28', 2, 5, 210.00, 'confirmée'), (10, 5, 4, '2026-08-08', 1, 2, 39.00, 'annulée'), (11, 3, 1, '2026-08-15', 2, 2, 84.00, 'confirmée');
