-- A ferry line on a lake and its islands. Fares are in euro cents, distances in kilometres. Today is 2026-07-01.
create table ports (
    port_code char(3) primary key,
    port_name text not null,
    country text not null,
    berths int not null
);
create table vessels (
    vessel_id int primary key,
    vessel_name text not null,
    built int not null,
    passenger_cap int not null,
    car_cap int not null,
    in_service boolean not null
);
create table routes (
    route_id int primary key,
    origin char(3) not null references ports,
    destination char(3) not null references ports,
    distance_km numeric(5, 1) not null,
    planned_min int not null
);
create table sailings (
    sailing_id int primary key,
    route_id int not null references routes,
    vessel_id int not null references vessels,
    departs timestamp not null,
    delay_min int not null,
    status text not null,
    passengers int not null,
    cars int not null
);
create table fares (
    route_id int not null references routes,
    fare_type text not null,
    fare_cents int not null,
    primary key (route_id, fare_type)
);
create table incidents (
    incident_id int primary key,
    sailing_id int not null references sailings,
    category text not null,
    reported_on date not null,
    resolved boolean not null
);
insert into ports values ('HVN', 'Havnes', 'Norway', 4), ('STO', 'Storøya', 'Norway', 2), ('LIL', 'Lilleholm', 'Norway', 1), ('KAR', 'Karlsund', 'Sweden', 5), ('SKA', 'Skarvik', 'Sweden', 3), ('ODD', 'Oddehavn', 'Norway', 1);
insert into vessels values
    (1, 'Queen Astrid', 1998, 480, 90, true), (2, 'Sea Swallow', 2012, 210, 24, true), (3, 'Tern', 2021, 96, 0, true), (4, 'Old Barnacle', 1974, 150, 18, false), (5, 'Northern Star', 2016, 620, 140, true), (6, 'Puffin Express', 2025, 120, 0, true);
insert into routes values (1, 'HVN', 'STO', 12.5, 35), (2, 'HVN', 'KAR', 64.0, 150), (3, 'STO', 'LIL', 4.2, 15), (4, 'KAR', 'SKA', 28.0, 70), (5, 'HVN', 'LIL', 16.1, 45), (6, 'SKA', 'ODD', 51.5, 125);
insert into sailings
select n, (array[1, 2, 3, 1, 4, 5, 1, 2, 3, 1, 2])[1 + (n * 7919 % 1009) % 11],
    case (array[1, 2, 3, 1, 4, 5, 1, 2, 3, 1, 2])[1 + (n * 7919 % 1009) % 11] when 2 then case when n % 4 = 0 then 1 else 5 end when 3 then 3 when 4 then 1 else case when n % 5 = 0 then 3 else 2 end end,
    timestamp '2026-02-01 06:30' + n * interval '19 hours 20 minutes',
    case when n % 10 in (1, 4) then 0 when n % 21 = 0 then 95 else (n * 3571 % 991) % 19 end,
    case when timestamp '2026-02-01 06:30' + n * interval '19 hours 20 minutes' > timestamp '2026-07-01' then 'scheduled' when n % 18 = 0 then 'cancelled' else 'sailed' end,
    case when n % 18 = 0 or timestamp '2026-02-01 06:30' + n * interval '19 hours 20 minutes' > timestamp '2026-07-01' then 0 else 20 + (n * 6007 % 997) % 75 + n / 3 end,
    case when n % 18 = 0 or timestamp '2026-02-01 06:30' + n * interval '19 hours 20 minutes' > timestamp '2026-07-01' then 0 else (n * 2741 % 983) % 18 end
from generate_series(1, 200) as n;
insert into fares
select r.route_id, t.fare_type, round(r.distance_km * t.rate)::int + 250
from routes as r, (values ('adult', 38.0), ('child', 19.0), ('car', 96.0), ('bicycle', 8.0)) as t(fare_type, rate) where not (r.route_id = 3 and t.fare_type = 'car');
insert into incidents
select n, (array[9, 18, 21, 36, 42, 55, 63, 77, 84, 90, 105, 118, 126, 131, 147, 150, 168, 171])[n], (array['engine', 'weather', 'medical', 'weather', 'engine', 'docking', 'weather'])[1 + n % 7],
    (timestamp '2026-02-01 06:30' + (array[9, 18, 21, 36, 42, 55, 63, 77, 84, 90, 105, 118, 126, 131, 147, 150, 168, 171])[n] * interval '19 hours 20 minutes')::date, n % 4 <> 0
from generate_series(1, 18) as n;
