-- A company that installs solar panels, with the run-together names of its old spreadsheet. Prices are in US dollars. Today is 2025-08-20.
create table salesreps (
    repid int primary key,
    repname text not null,
    region text not null,
    hiredate date not null,
    commissionpct numeric(4, 2) not null
);
create table customers (
    custid int primary key,
    custname text not null,
    custtype text not null,
    cityname text not null,
    zipcode text not null,
    rooftype text
);
create table quotes (
    quoteno int primary key,
    custid int not null references customers,
    repid int not null references salesreps,
    quotedate date not null,
    validuntil date not null,
    quotetotal numeric(10, 2) not null,
    quotestatus text not null
);
create table installs (
    jobno text primary key,
    quoteno int not null references quotes,
    startdate date not null,
    finishdate date,
    kwpeak numeric(6, 2) not null,
    panelcount int not null,
    hasbattery boolean not null,
    crewname text not null
);
create table meterreads (
    jobno text not null references installs,
    readmonth date not null,
    kwhproduced numeric(9, 1) not null,
    kwhexported numeric(9, 1) not null,
    primary key (jobno, readmonth)
);
create table servicecalls (
    callid int primary key,
    jobno text not null references installs,
    calldate date not null,
    problem text not null,
    hoursspent numeric(4, 1),
    underwarranty boolean not null
);
insert into salesreps values (1, 'Carla Whitehorse', 'north', '2018-03-12', 2.5), (2, 'Ben Achterberg', 'south', '2021-07-01', 2), (3, 'Tamika Rowe', 'south', '2023-01-23', 2), (4, 'Luis Ocampo', 'coast', '2015-10-05', 3), (5, 'Greta Voss', 'coast', '2025-07-14', 1.5);
insert into customers
select n, (array['Delgado', 'Hutchins', 'Orchard View School', 'Kim', 'Parrish Winery', 'Abernethy', 'Nakamura', 'Saint Ann Clinic', 'Boyd', 'Castellano', 'Pine Ridge Church', 'Ferris',
        'Lindgren', 'Oyelaran', 'Fire Station 9', 'Tran', 'Blue Door Bakery', 'Whitfield', 'Sandoval', 'Alder Public Library', 'McCrae', 'Pappas', 'Tansy Town Hall', 'Rosen', 'Ueda', 'Vance', 'Mesa Middle School', 'Quigley', 'Harbor Cold Storage', 'Ito', 'Bellweather', 'County Shelter'])[n],
    (array['home', 'home', 'public', 'home', 'business', 'home', 'home', 'public', 'home', 'home', 'public', 'home'])[1 + (n - 1) % 12],
    (array['Mesa Verde', 'Port Alder', 'Sunfield', 'Port Alder', 'Mesa Verde', 'Tansy Creek', 'Port Alder'])[1 + (n * 3) % 7], '9' || 4100 + (n * 3) % 7 * 12, (array['tile', 'shingle', 'flat', 'shingle', 'metal', null])[1 + n % 6]
from generate_series(1, 32) as n;
insert into quotes
select 700 + n, 1 + (n * 7919 % 1009) % 30, (array[1, 2, 4, 4, 3, 2, 4, 1, 3])[1 + (n * 3571 % 991) % 9], date '2024-09-02' + n * 345 / 72, date '2024-09-02' + n * 345 / 72 + 45, 6500 + (n * 6007 % 997) * 38,
    case when n > 64 then 'pending' else (array['accepted', 'declined', 'accepted', 'expired', 'accepted', 'accepted'])[1 + (n * 2741 % 983) % 6] end
from generate_series(1, 72) as n;
insert into installs
select 'J-' || quoteno, quoteno, quotedate + 30 + quoteno % 17, case when quotedate > '2025-06-15' then null else quotedate + 32 + quoteno % 17 + quoteno % 6 end, round((quotetotal / 2900)::numeric, 2), (quotetotal / 1180)::int, quoteno % 3 = 0, (array['Copper', 'Juniper', 'Copper', 'Osprey'])[1 + quoteno % 4]
from quotes where quotestatus = 'accepted' and quoteno % 9 <> 4;
insert into meterreads
select jobno, m::date, round((kwpeak * (70 + extract(month from m)::int * 9 - (extract(month from m)::int / 8) * 30 + right(jobno, 1)::int))::numeric, 1), round((kwpeak * (28 + extract(month from m)::int * 4 + right(jobno, 1)::int))::numeric, 1)
from installs, generate_series(timestamp '2025-02-01', timestamp '2025-07-01', interval '1 month') as m where finishdate < m and right(jobno, 1)::int <> 3;
insert into servicecalls
select n, j.jobno, date '2025-01-06' + n * 11 / 2, (array['inverter fault', 'loose rail', 'no data', 'inverter fault', 'bird nest', 'no data', 'leak'])[1 + (n * 1511 % 977) % 7], case when n > 38 then null else 0.5 + (n * 7 % 9) * 0.5 end, n % 3 <> 1
from generate_series(1, 40) as n join (select jobno, row_number() over (order by jobno) as r from installs where finishdate < '2025-01-05') as j on j.r = 1 + (n * n) % 9;
