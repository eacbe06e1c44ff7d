-- Un domaine viticole. Montants en euros, volumes en litres. Date du jour : 2025-12-10.
create table parcelles (
    id_parcelle int primary key,
    nom text not null,
    cepage text not null,
    surface_ha numeric(5, 2) not null,
    annee_plantation int not null
);
create table recoltes (
    id_recolte int primary key,
    id_parcelle int not null references parcelles,
    date_recolte date not null,
    poids_kg int not null,
    degre numeric(4, 1) not null
);
create table cuvees (
    id_cuvee int primary key,
    nom text not null,
    millesime int not null,
    couleur text not null,
    prix numeric(7, 2) not null,
    stock_bouteilles int not null,
    bio boolean not null
);
create table clients (
    id_client int primary key,
    nom text not null,
    pays text not null,
    type_client text not null
);
create table commandes (
    id_commande int primary key,
    id_client int not null references clients,
    date_commande date not null,
    date_livraison date,
    remise_pct numeric(4, 1)
);
create table lignes (
    id_commande int not null references commandes,
    id_cuvee int not null references cuvees,
    bouteilles int not null,
    prix_unitaire numeric(7, 2) not null,
    primary key (id_commande, id_cuvee)
);
insert into parcelles values
    (1, 'Les Grandes Pierres', 'grenache', 3.20, 1968), (2, 'Clos du Moulin', 'syrah', 2.10, 1994), (3, 'La Combe', 'grenache', 1.75, 2003),
    (4, 'Les Terrasses', 'mourvèdre', 0.90, 1981), (5, 'Le Plateau', 'viognier', 1.40, 2011), (6, 'Sous-Bois', 'cinsault', 0.65, 1957),
    (7, 'La Croix Blanche', 'roussanne', 1.10, 2016), (8, 'Jeune Vigne', 'syrah', 0.80, 2024);
insert into recoltes
select n, 1 + (n * 5) % 7, make_date(2022 + (n - 1) / 9, 9, 1) + (n * 13) % 34, 900 + (n * 6007 % 997) * 6, 12 + (n * 17 % 27) * 0.1
from generate_series(1, 36) as n;
insert into cuvees values
    (1, 'Vieilles Vignes', 2022, 'rouge', 24.50, 1240, true), (2, 'Vieilles Vignes', 2023, 'rouge', 26.00, 2310, true), (3, 'Clos du Moulin', 2022, 'rouge', 32.00, 410, true),
    (4, 'Les Copains', 2024, 'rouge', 9.80, 5600, false), (5, 'Blanc de Plateau', 2024, 'blanc', 14.00, 1890, true), (6, 'Matin Rose', 2024, 'rosé', 10.50, 0, false),
    (7, 'Grande Réserve', 2020, 'rouge', 58.00, 96, true), (8, 'Doux Murmure', 2023, 'blanc', 19.50, 330, false), (9, 'Matin Rose', 2025, 'rosé', 11.00, 3100, false);
insert into clients values
    (1, 'Cave Saint-Roch', 'France', 'caviste'), (2, 'Weinhaus Lorenz', 'Allemagne', 'importateur'), (3, 'Bistrot Gaspard', 'France', 'restaurant'),
    (4, 'Nordic Vines AB', 'Suède', 'importateur'), (5, 'La Table de Jeanne', 'France', 'restaurant'), (6, 'The Cork Room', 'Royaume-Uni', 'caviste'),
    (7, 'Mme Aubry', 'France', 'particulier'), (8, 'M. Delcourt', 'Belgique', 'particulier'), (9, 'Vinothek am Dom', 'Allemagne', 'caviste'), (10, 'Auberge du Pont', 'Suisse', 'restaurant');
insert into commandes
select n, (array[1, 2, 3, 4, 5, 2, 7, 1, 9, 2, 6, 3])[1 + (n * 7919 % 1009) % 12], date '2025-01-13' + n * 330 / 90,
    case when n > 84 then null else date '2025-01-13' + n * 330 / 90 + 2 + (n * 7) % 12 end,
    case when n % 3 = 0 then 5 when n % 10 = 1 then 12.5 end
from generate_series(1, 90) as n;
insert into lignes
select n, (array[4, 9, 2, 5, 1, 4, 3, 9, 7, 4, 5])[1 + (n * 3571 % 991) % 11], 6 * (1 + (n * 2741 % 983) % 14), 0 from generate_series(1, 90) as n
union
select n, 2, 12, 0 from generate_series(4, 90, 8) as n where (array[4, 9, 2, 5, 1, 4, 3, 9, 7, 4, 5])[1 + (n * 3571 % 991) % 11] <> 2;
update lignes set prix_unitaire = c.prix - (c.prix * 0.1) from cuvees as c where c.id_cuvee = lignes.id_cuvee;
