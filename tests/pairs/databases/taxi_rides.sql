-- Rides of a small taxi firm, one table wide. Prices are in cents. Today is 2025-12-10.
create table rides (
    ride_no int primary key,
    driver text,
    pickup_area text not null,
    dropoff_area text not null,
    ride_state text not null,
    paid_by text not null,
    booked_via text not null,
    ride_date date not null,
    distance_km numeric(6, 1) not null,
    price_cents int not null,
    tip_cents int,
    passengers int not null,
    stars int
);
insert into rides
select 9000 + n, case when state <> 'requested' then driver end,
    (array['Airport', 'Old Town', 'Station', 'Old Town', 'Harbour', 'Airport', 'University', 'Old Town'])[1 + (n * 7919 % 1009) % 8],
    (array['Station', 'Airport', 'Harbour', 'Hillside', 'Station', 'Old Town', 'Airport'])[1 + (n * 3571 % 991) % 7],
    state, (array['card', 'cash', 'card', 'account', 'card', 'cash'])[1 + (n * 1511 % 977) % 6],
    (array['app', 'phone', 'app', 'street', 'phone', 'app', 'app'])[1 + (n * 5501 % 971) % 7],
    date '2025-02-03' + (n * 31) / 10, 1.4 + (n * 5059 % 1013) * 0.04, 600 + (n * 7109 % 1019) * 7,
    case when state = 'completed' and n % 3 = 0 then 100 + (n * 37) % 400 end, 1 + (n * 6007 % 997) % 4,
    case when state = 'completed' and n % 4 > 0 then (array[5, 4, 5, 5, 3, 4, 1])[1 + (n * 4447 % 1013) % 7] end
from (
    select n,
        (array['Musa Keita', 'Linh Tran', 'Musa Keita', 'Gordon Reid', 'Linh Tran', 'Musa Keita', 'Alma Ortiz'])[1 + (n * 2741 % 983) % 7] as driver,
        case when n > 94 then case when n % 2 = 0 then 'requested' else 'assigned' end when n % 11 = 0 then 'cancelled' when n % 16 = 0 then 'no-show' else 'completed' end as state
    from generate_series(1, 100) as n
) as log;
