-- A fund's list of companies, their rounds of money and who took part, as exported from a tool. Today is 2026-06-02.
create table companies (
    company_id int primary key, company_name text not null, country text not null, sector text not null, founded int not null,
    headcount int, website text, is_active boolean not null
);
create table rounds (
    round_id int primary key, company_id int not null references companies, stage text not null, amount_usd numeric(12, 2) not null,
    valuation_usd numeric(13, 2), announced_on date not null
);
create table investors (investor_id int primary key, investor_name text not null, kind text not null, city text not null, since_year int not null);
create table round_investors (round_id int not null references rounds, investor_id int not null references investors, led boolean not null, primary key (round_id, investor_id));
insert into companies values
    (1, 'Lumenly', 'Kenya', 'energy', 2016, 48, 'https://lumenly.example', true), (2, 'Grainhub', 'Nigeria', 'agriculture', 2018, 112, 'https://grainhub.example', true),
    (3, 'Kitabu', 'Kenya', 'education', 2014, 35, null, true), (4, 'Paysule', 'Ghana', 'payments', 2019, 260, 'https://paysule.example', true),
    (5, 'Medora', 'Nigeria', 'health', 2020, 64, 'https://medora.example', false), (6, 'Sable Freight', 'South Africa', 'logistics', 2012, 305, null, true),
    (7, 'Tidewater', 'South Africa', 'energy', 2021, 19, 'https://tidewater.example', true), (8, 'Wazo', 'Ghana', 'education', 2015, null, null, false);
insert into rounds values
    (1, 1, 'seed', 1200000, 6000000, '2018-03-14'), (2, 1, 'series a', 9000000, 41000000, '2021-10-05'), (3, 2, 'seed', 2500000, 11000000, '2020-02-20'),
    (4, 2, 'series a', 14000000, 70000000, '2023-05-30'), (5, 3, 'seed', 700000, null, '2016-09-09'), (6, 4, 'seed', 3000000, 15000000, '2020-11-12'),
    (7, 4, 'series a', 22000000, 120000000, '2022-06-21'), (8, 4, 'series b', 60000000, 410000000, '2024-09-17'), (9, 5, 'seed', 1800000, 8500000, '2021-04-28'),
    (10, 6, 'series a', 17500000, 95000000, '2019-01-31'), (11, 6, 'series b', 38000000, 240000000, '2022-12-08'), (12, 7, 'seed', 2100000, 9000000, '2025-08-19');
insert into investors values
    (1, 'Baobab Ventures', 'fund', 'Nairobi', 2011), (2, 'Northlight', 'fund', 'London', 2004), (3, 'Adaeze Obi', 'angel', 'Lagos', 2017), (4, 'Cape Row', 'fund', 'Cape Town', 2013),
    (5, 'Hearth Capital', 'fund', 'London', 2019), (6, 'Jan de Wet', 'angel', 'Cape Town', 2015);
insert into round_investors values
    (1, 1, true), (1, 3, false), (2, 2, true), (2, 1, false), (3, 3, true), (4, 2, true), (4, 1, false), (5, 1, true), (6, 1, true), (6, 6, false), (7, 2, true),
    (8, 5, true), (8, 2, false), (9, 3, true), (10, 4, true), (11, 4, true), (11, 5, false), (12, 6, true), (12, 4, false);
