-- Une fromagerie : ses fromages, ses clients et leurs commandes. On est le 2026-05-11.
create table clients (id int primary key, nom text not null, ville text not null, genre text not null, client_depuis date not null, remise numeric(4, 1));
create table fromages (id int primary key, nom text not null, lait text not null, prix_kilo numeric(6, 2) not null, affinage_jours int not null, stock_kilos numeric(6, 1) not null);
create table commandes (
    id int primary key, client_id int not null references clients, fromage_id int not null references fromages, kilos numeric(6, 1) not null,
    commande_le date not null, statut text not null
);
insert into clients values
    (1, 'Épicerie Vasseur', 'Annecy', 'épicerie', '2018-02-01', 5.0), (2, 'Auberge du Lac', 'Annecy', 'restaurant', '2021-06-15', null), (3, 'Chez Léonie', 'Lyon', 'restaurant', '2020-09-10', 8.0),
    (4, 'Halles Morel', 'Lyon', 'épicerie', '2023-03-22', 10.0), (5, 'Bistrot Caron', 'Grenoble', 'restaurant', '2025-01-07', null);
insert into fromages values
    (1, 'Tomme grise', 'vache', 18.50, 90, 120.0), (2, 'Reblochon', 'vache', 21.00, 25, 64.5), (3, 'Chevrotin', 'chèvre', 27.80, 30, 22.0), (4, 'Bleu de brebis', 'brebis', 31.00, 60, 15.5),
    (5, 'Beaufort', 'vache', 29.90, 240, 210.0);
insert into commandes values
    (1, 1, 1, 12.0, '2026-01-14', 'livrée'), (2, 1, 5, 20.0, '2026-02-03', 'livrée'), (3, 2, 2, 6.5, '2026-02-17', 'livrée'), (4, 3, 3, 4.0, '2026-03-04', 'annulée'),
    (5, 3, 5, 9.0, '2026-03-26', 'livrée'), (6, 4, 1, 30.0, '2026-04-02', 'livrée'), (7, 4, 4, 3.5, '2026-04-20', 'en cours'), (8, 2, 5, 8.0, '2026-05-06', 'en cours'),
    (9, 1, 3, 5.0, '2025-12-11', 'livrée');
