-- Un atelier de retouches. Prix en euros. Date du jour : 2026-03-18.
create table couturieres (
    id int primary key,
    nom text not null,
    ville text not null,
    embauchee_le date not null
);
create table commandes (
    numero int primary key,
    vetement text not null,
    retouche text not null,
    statut text not null,
    client text not null,
    couturiere_id int references couturieres,
    deposee_le date not null,
    rendue_le date,
    prix_eur numeric(7, 2) not null,
    urgente boolean not null
);
insert into couturieres values
    (1, 'Odile Ferrand', 'Nantes', '2019-09-02'), (2, 'Samira Haddad', 'Nantes', '2022-03-14'), (3, 'Jeanne Le Goff', 'Rezé', '2016-01-11'), (4, 'Inès Moreau', 'Rezé', '2026-02-02'),
    (5, 'Lucie Barbier', 'Orvault', '2024-05-27');
insert into commandes
select 700 + n, vetement, retouche, statut,
    (array['Mme Caron', 'M. Texier', 'Mme Vidal', 'Hôtel du Port', 'M. Okoye', 'Mme Caron', 'Hôtel du Port'])[1 + (n * 6007 % 997) % 7],
    case when statut = 'rendue' or n % 3 > 0 then (array[1, 2, 3, 1, 2, 1])[1 + (n * 2741 % 983) % 6] end,
    deposee_le, case when statut = 'rendue' then deposee_le + 1 + (n * 17) % 24 end, 8 + (n * 7109 % 1019) * 0.1, n % 4 = 1
from (
    select n,
        (array['pantalon', 'robe', 'manteau', 'pantalon', 'veste', 'jupe', 'rideaux', 'robe'])[1 + (n * 7919 % 1009) % 8] as vetement,
        (array['ourlet', 'fermeture', 'ourlet', 'cintrage', 'doublure', 'ourlet'])[1 + (n * 3571 % 991) % 6] as retouche,
        case when n <= 62 then case when n % 15 = 0 then 'abandonnée' else 'rendue' end else (array['en cours', 'prête', 'en cours', 'reçue'])[1 + n % 4] end as statut,
        date '2025-01-06' + (n * 27) / 5 as deposee_le
    from generate_series(1, 80) as n
) as registre;
