-- A regional museum. Insurance values are in pounds sterling. Today is 2026-07-01.
create table makers (
    id int primary key,
    name text not null,
    nationality text,
    born int,
    died int
);
create table rooms (
    code text primary key,
    title text not null,
    climate_controlled boolean not null
);
create table objects (
    accession text primary key,
    title text not null,
    maker_id int references makers,
    kind text not null,
    made_year int,
    height_cm numeric(6, 1),
    acquired_on date not null,
    source text not null,
    insured_value int,
    room_code text references rooms
);
create table exhibitions (
    id int primary key,
    name text not null,
    opens date not null,
    closes date not null,
    curator text not null,
    ticket_price numeric(5, 2) not null
);
create table exhibits (
    exhibition_id int not null references exhibitions,
    accession text not null references objects,
    primary key (exhibition_id, accession)
);
create table loans (
    id int primary key,
    accession text not null references objects,
    borrower text not null,
    sent_on date not null,
    due_back date not null,
    returned_on date
);
create table visitor_days (
    day date primary key,
    adults int not null,
    children int not null,
    school_groups int not null
);
insert into makers values
    (1, 'Hannah Thistlewood', 'British', 1841, 1909), (2, 'Giacomo Ferrandi', 'Italian', 1688, 1751), (3, 'Kiyo Nakahara', 'Japanese', 1902, 1988),
    (4, 'Workshop of Adriaen Smit', 'Dutch', null, null), (5, 'Ruaridh MacInnes', 'British', 1955, null), (6, 'Elodie Carpentier', 'French', 1870, 1941), (7, 'Sunniva Dahl', 'Norwegian', 1963, null);
insert into rooms values ('G1', 'Great Gallery', true), ('G2', 'Ceramics Room', true), ('G3', 'Maritime Hall', false), ('S1', 'Basement Store', true), ('T1', 'Temporary Exhibitions', true), ('C1', 'Cloister', false);
insert into objects values
    ('1987.14', 'Harbour at Low Tide', 1, 'painting', 1882, 64.0, '1987-05-12', 'bequest', 85000, 'G1'), ('1987.15', 'The Net Menders', 1, 'painting', 1886, 92.5, '1987-05-12', 'bequest', 140000, 'G1'),
    ('1992.3', 'Portrait of a Notary', 2, 'painting', 1724, 118.0, '1992-10-01', 'purchase', 410000, 'G1'), ('1999.22', 'Moon Jar', 3, 'ceramic', 1961, 38.0, '1999-03-15', 'gift', 26000, 'G2'),
    ('1999.23', 'Tea Bowl with Ash Glaze', 3, 'ceramic', 1957, 9.5, '1999-03-15', 'gift', 7500, 'G2'), ('2003.7', 'Model of the Brig Fidelity', null, 'ship model', 1810, 71.0, '2003-08-20', 'purchase', 18000, 'G3'),
    ('2003.8', 'Ship''s Bell of the Arcturus', null, 'metalwork', 1871, 44.0, '2003-08-20', 'gift', 3200, 'G3'), ('2008.41', 'Tulip Vase', 4, 'ceramic', 1695, 52.0, '2008-02-11', 'purchase', 98000, 'G2'),
    ('2011.2', 'Estuary III', 5, 'painting', 2009, 150.0, '2011-06-30', 'purchase', 22000, 'S1'), ('2011.3', 'Estuary IV', 5, 'painting', 2010, 150.0, '2011-06-30', 'gift', 22500, 'G1'),
    ('2014.9', 'Woman Sewing by a Window', 6, 'drawing', 1899, 31.0, '2014-12-05', 'bequest', 12000, 'S1'), ('2014.10', 'Dancers Resting', 6, 'drawing', 1903, 28.5, '2014-12-05', 'bequest', 15500, 'S1'),
    ('2017.1', 'Fog Signal', 7, 'sculpture', 2016, 210.0, '2017-04-22', 'purchase', 35000, 'C1'), ('2019.30', 'Fisherman''s Gansey', null, 'textile', 1935, null, '2019-09-09', 'gift', 400, 'S1'),
    ('2021.5', 'Whalebone Comb', null, 'carving', null, 3.2, '2021-01-18', 'gift', null, 'S1'), ('2023.12', 'Storm Glass', 7, 'sculpture', 2021, 88.0, '2023-11-02', 'purchase', 27500, 'C1'),
    ('2025.4', 'Sampler by Mary Lidgate', null, 'textile', 1799, 41.0, '2025-09-16', 'gift', 1900, 'S1'), ('2026.1', 'Night Ferry', 5, 'painting', 2024, 120.0, '2026-02-27', 'purchase', 31000, null), ('2026.2', 'Sextant by Harker & Son', null, 'instrument', 1848, 22.0, '2026-05-08', 'gift', null, null);
insert into exhibitions values
    (1, 'Women of the Shore', '2025-10-11', '2026-01-25', 'Dr Alma Reeve', 9.50), (2, 'Fire and Ash: Studio Ceramics', '2026-02-14', '2026-05-31', 'Tobias Lund', 8.00),
    (3, 'Lost at Sea', '2026-06-13', '2026-10-04', 'Dr Alma Reeve', 11.00), (4, 'Line by Line: Drawings', '2026-11-07', '2027-02-21', 'Priscilla Mbeki', 7.50), (5, 'Estuaries', '2024-05-04', '2024-09-15', 'Tobias Lund', 6.50);
insert into exhibits values (1, '1987.14'), (1, '1987.15'), (1, '2014.9'), (1, '2019.30'), (2, '1999.22'), (2, '1999.23'), (2, '2008.41'), (3, '2003.7'), (3, '2003.8'), (3, '2017.1'), (3, '1987.14'), (3, '2019.30'), (4, '2014.9'), (4, '2014.10'), (5, '2011.2'), (5, '2011.3');
insert into loans values
    (1, '1992.3', 'Palazzo Verri', '2024-03-01', '2024-09-30', '2024-09-25'), (2, '2008.41', 'Keramiekhuis Delft', '2025-01-10', '2025-06-10', '2025-06-18'), (3, '2011.2', 'Harbour Arts Centre', '2025-11-03', '2026-05-15', null),
    (4, '1987.15', 'National Coast Museum', '2026-02-20', '2026-08-31', null), (5, '2014.10', 'Harbour Arts Centre', '2025-08-01', '2025-12-20', '2025-12-12'), (6, '2023.12', 'City Botanic Garden', '2026-04-09', '2026-06-20', null),
    (7, '2003.7', 'National Coast Museum', '2023-05-05', '2023-10-10', '2023-11-02'), (8, '2011.3', 'Palazzo Verri', '2026-06-15', '2027-01-15', null);
insert into visitor_days
select d::date, 60 + (n * 2741 % 983) % 240, 10 + (n * 1511 % 977) % 95, (n * 7) % 4
from (select d, row_number() over (order by d)::int as n from generate_series(timestamp '2026-01-02', timestamp '2026-06-30', interval '1 day') as d where extract(isodow from d) <> 1) as days;
