-- Callouts of a firm that maintains lifts. Charges are in pounds, downtime in hours. Today is 2026-02-11.
create table callouts (
    id int primary key,
    title text not null unique,
    fault text not null,
    town text not null,
    state text not null,
    severity text not null,
    technician text,
    reported_on date not null,
    fixed_on date,
    charge_gbp numeric(8, 2) not null,
    downtime_hours int,
    channel text not null
);
insert into callouts
select n, fault || ' at ' || building || ', call ' || n, fault, town, state, severity,
    case when state = 'fixed' or n % 3 > 0 and technician <> 'Peter Sim' then technician end, reported_on,
    case when state = 'fixed' then reported_on + (n * 29) % 23 end, 60 + (n * 7109 % 1019) * 1.2,
    case when state = 'fixed' then 1 + (n * 5059 % 1013) % 300 end, channel
from (
    select n,
        (array['Door', 'Overload', 'Stuck between floors', 'Door', 'Noise', 'Button panel', 'Light out', 'Noise'])[1 + (n * 7919 % 1009) % 8] as fault,
        (array['Albion Court', 'Mill House', 'the library', 'Quay Tower', 'St Anne''s', 'the town hall'])[1 + (n * 3571 % 991) % 6] as building,
        (array['Hull', 'Grimsby', 'Hull', 'Goole', 'Beverley', 'Grimsby', 'Hull'])[1 + (n * 4447 % 1013) % 7] as town,
        (array['minor', 'major', 'minor', 'critical', 'minor', 'major'])[1 + (n * 1511 % 977) % 6] as severity,
        (array['Dee Marlow', 'Hugh Blake', 'Hugh Blake', 'Oona Kerr', 'Dee Marlow', 'Hugh Blake', 'Peter Sim'])[1 + (n * 2741 % 983) % 7] as technician,
        (array['phone', 'phone', 'app', 'email', 'phone', 'app'])[1 + (n * 5501 % 971) % 6] as channel,
        case when n <= 60 then case when n % 14 = 0 then 'waiting for parts' else 'fixed' end
            else (array['open', 'fixed', 'open', 'waiting for parts'])[1 + n % 4] end as state,
        date '2024-12-02' + (n * 27) / 5 as reported_on
    from generate_series(1, 80) as n
) as calls;
