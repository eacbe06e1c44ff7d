-- Une librairie de quartier : livres, clients, ventes. Prix en euros. Aujourd'hui : 2026-10-08.
create table editeurs (
    id int primary key,
    nom text not null,
    ville text not null,
    fonde_en int
);
create table livres (
    isbn text primary key,
    titre text not null,
    auteur text not null,
    editeur_id int references editeurs,
    rayon text not null,
    prix numeric(6, 2) not null,
    pages int not null,
    paru_le date not null,
    stock int not null,
    poche boolean not null
);
create table clients (
    id int primary key,
    nom text not null,
    quartier text not null,
    inscrit_le date not null,
    points_fidelite int not null,
    courriel text
);
create table ventes (
    id int primary key,
    isbn text not null references livres,
    client_id int references clients,
    vendu_le date not null,
    quantite int not null,
    montant numeric(7, 2) not null,
    vendeur text not null,
    remboursee boolean not null
);
insert into editeurs select g, (array['Les Deux Rives', 'Aubépine', 'Ponant', 'Le Grenier', 'Sillage'])[g], (array['Lyon', 'Paris', 'Nantes', 'Arles', 'Paris'])[g], case when g <> 3 then 1931 + g * 15 end from generate_series(1, 5) g;
insert into livres select '978' || (2000000 + g * 3571), (array['La Dune', 'Les Jours pâles', 'Atlas des vents', 'Cuisine du port', 'Le Passeur', 'Nuit blanche', 'Petit Bestiaire', 'Mille Pas', 'Verger', 'Le Dernier Bac', 'Échos', 'La Carte muette', 'Saison haute', 'Fugue', 'Terre brune', 'Le Pli', 'Orage', 'Contes de l''aube'])[g], (array['Anaïs Vidal', 'Marc Teulier', 'Jeanne Osty', 'Paul Griset', 'Inès Calvet'])[1 + g % 5], case when g % 7 <> 0 then 1 + g % 4 end, (array['roman', 'polar', 'cuisine', 'jeunesse'])[1 + g % 4], 6.5 + (g * 173) % 270 / 10.0, 64 + (g * 97) % 610, date '2011-02-03' + g * 293, (g * 5) % 19, g % 3 = 1 from generate_series(1, 18) g;
insert into clients select g, (array['Odette Blin', 'Samir Haddad', 'Lucie Prat', 'Hugo Ferran', 'Nadia Costa', 'René Aubin', 'Claire Mons', 'Yann Le Goff', 'Zoé Martel'])[g], (array['Vieux-Port', 'Gare', 'Les Halles'])[1 + g % 3], date '2016-03-09' + g * 377, (g * 41) % 260, case when g % 3 > 0 then 'c' || g || '@courrier.example' end from generate_series(1, 9) g;
insert into ventes select g, '978' || (2000000 + (1 + (g * 5) % 16) * 3571), case when g % 5 > 0 then 1 + g % 8 end, date '2026-02-02' + g * 4, 1 + g % 4, 7 + (g * 311) % 900 / 10.0, (array['Maud', 'Karim', 'Elsa'])[1 + (g * 2) % 3], g % 13 = 6 from generate_series(1, 60) g;
