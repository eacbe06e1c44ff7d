-- Requests to a weather service, as logged. Today is 2026-04-15.
create table api_keys (
    key_id text primary key,
    holder text not null,
    tier text not null,
    issued date not null,
    revoked date
);
create table requests (
    req_id bigint primary key,
    key_id text references api_keys,
    at timestamp not null,
    method text not null,
    path text not null,
    status_code int not null,
    latency_ms int not null,
    bytes_out int,
    region text not null,
    error text
);
insert into api_keys values ('k-aa', 'Farmsight', 'gold', '2023-02-01', null), ('k-bb', 'Ski Report', 'silver', '2024-11-20', null), ('k-cc', 'Dockside', 'free', '2025-06-06', '2026-02-01'), ('k-dd', 'Pollen App', 'silver', '2022-09-13', null), ('k-ee', 'Balloonists', 'free', '2026-04-01', null);
insert into requests
select 50000 + n, case when n % 17 = 0 then null else (array['k-aa', 'k-bb', 'k-aa', 'k-dd', 'k-aa', 'k-bb', 'k-cc'])[1 + (n * 7919 % 1009) % 7] end,
    timestamp '2026-01-20 04:10' + n * interval '21 hours 13 minutes', (array['GET', 'GET', 'POST', 'GET'])[1 + (n * 3571 % 991) % 4],
    (array['/forecast', '/now', '/alerts', '/forecast', '/history'])[1 + (n * 2741 % 983) % 5],
    case when n % 13 = 0 then 500 when n % 9 = 0 then 404 when n % 17 = 0 then 401 else 200 end, 20 + (n * 6007 % 997), case when n % 13 = 0 then null else 400 + (n * 4447 % 1013) * 7 end,
    (array['eu', 'us', 'eu', 'ap'])[1 + (n * 1511 % 977) % 4], case when n % 13 = 0 then 'upstream timeout' when n % 9 = 0 then 'no such station' when n % 17 = 0 then 'missing key' end
from generate_series(1, 90) as n;
