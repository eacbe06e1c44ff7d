-- Start-ups, their rounds and investors. Amounts are in millions of dollars. Today is 2026-07-07.
create table startups (
    startup_id int primary key,
    name text not null,
    field text not null,
    city text not null,
    started_in int not null,
    staff int,
    closed_on date
);
create table rounds (
    round_id int primary key,
    startup_id int not null references startups,
    series text not null,
    raised_musd numeric(7, 1) not null,
    announced date not null,
    lead_investor_id int
);
create table investors (
    investor_id int primary key,
    investor_name text not null,
    kind text not null,
    fund_size_musd numeric(8, 1)
);
alter table rounds add foreign key (lead_investor_id) references investors;
insert into startups values (1, 'Kelpify', 'food', 'Bergen', 2018, 64, null), (2, 'Routelight', 'mobility', 'Lisbon', 2016, 210, null), (3, 'Numina', 'health', 'Boston', 2020, 35, null), (4, 'Stackhorn', 'software', 'Austin', 2013, 480, null), (5, 'Greenbolt', 'energy', 'Lyon', 2021, 18, null), (6, 'Petalia', 'food', 'Boston', 2015, 0, '2024-03-31'), (7, 'Orbital Ink', 'software', 'Bergen', 2023, 9, null);
insert into investors values (1, 'Northwind Capital', 'fund', 400), (2, 'Saffron Partners', 'fund', 1200), (3, 'Lena Brandt', 'angel', null), (4, 'Tidal Ventures', 'fund', 150), (5, 'Hartmann Holding', 'corporate', 90);
insert into rounds values
    (1, 1, 'seed', 2.5, '2019-02-11', 3), (2, 1, 'A', 14.0, '2021-09-08', 1), (3, 2, 'A', 11.0, '2018-05-15', 4), (4, 2, 'B', 60.0, '2020-10-20', 2), (5, 2, 'C', 130.0, '2024-01-25', 2), (6, 3, 'seed', 4.2, '2021-06-30', 3),
    (7, 4, 'A', 20.0, '2015-03-03', 2), (8, 4, 'B', 75.5, '2019-12-12', 1), (9, 5, 'seed', 1.8, '2022-04-04', null), (10, 6, 'seed', 3.0, '2016-08-19', 4), (11, 3, 'A', 26.0, '2026-02-17', 2), (12, 4, 'C', 40.0, '2026-05-28', 1);
