-- A removal firm's sheet of its vehicles, one row each. Costs are in pounds. Today is 2026-06-10.
create table fleet (
    "Reg" text primary key,
    "Make" text not null,
    "Model" text not null,
    "Type" text not null,
    "First registered" date not null,
    "Mileage" int not null,
    "Payload kg" int,
    "Height m" numeric(3, 1),
    "Fuel" text not null,
    "Depot" text not null,
    "Usual driver" text,
    "MOT due" date,
    "Purchase price" numeric(9, 2),
    "Insurance paid" boolean not null,
    "Last service cost" numeric(8, 2),
    "Off road since" date
);
insert into fleet values
    ('KV19 LDN', 'Ford', 'Transit', 'van', '2019-03-14', 84210, 1200, 2.6, 'diesel', 'Croydon', 'Ann Shaw', '2026-09-12', 18500, true, 412.50, null),
    ('BX67 TRW', 'Mercedes', 'Sprinter', 'van', '2017-10-02', 131877, 1350, 2.8, 'diesel', 'Luton', 'Piotr Zielinski', '2026-07-01', 16900, true, 980.00, null),
    ('YF14 OPA', 'DAF', 'LF 180', 'truck', '2014-05-21', 298450, 6800, 3.6, 'diesel', 'Croydon', 'Ray Mensah', '2026-06-20', 39000, true, 2210.00, null),
    ('LT23 EVN', 'Maxus', 'eDeliver 9', 'van', '2023-08-30', 21540, 1000, 2.5, 'electric', 'Luton', 'Joanna Birch', '2026-08-29', 41200, false, 130.00, null),
    ('WN21 HGV', 'Iveco', 'Eurocargo', 'truck', '2021-01-11', 120990, 7500, 3.8, 'diesel', 'Swindon', 'Keith Dorrell', '2027-01-10', 58000, true, 1655.75, null),
    ('GJ12 CAR', 'Vauxhall', 'Corsa', 'car', '2012-09-05', 104321, null, 1.5, 'petrol', 'Croydon', null, '2026-05-30', 4200, false, 275.00, '2026-04-18'),
    ('EA70 ZRO', 'Nissan', 'e-NV200', 'van', '2020-12-01', 45678, 700, 1.9, 'electric', 'Swindon', 'Tess Oduya', '2026-11-30', 23900, true, 99.00, null),
    ('HV16 BOX', 'MAN', 'TGL', 'truck', '2016-02-17', 243004, 7100, 3.7, 'diesel', 'Luton', 'Ray Mensah', '2026-02-16', 44500, false, 3120.40, '2026-02-17'),
    ('OU22 MIN', 'Ford', 'Tourneo', 'minibus', '2022-06-24', 60112, 950, 2.1, 'diesel', 'Swindon', 'Ann Shaw', '2027-06-23', 33750, true, 388.00, null),
    ('SK18 LOW', 'Ifor', 'Trailer', 'trailer', '2018-07-07', 0, 2600, 2.3, 'none', 'Croydon', null, null, 3100, true, null, null);
