-- A wholesale bakery. Prices are in euro cents, flour in kilograms. Today is 2025-12-10.
create table breads (
    bread_id int primary key,
    bread text not null,
    family text not null,
    grams int not null,
    unit_price_ct int not null,
    vegan boolean not null,
    discontinued_on date
);
create table shops (
    shop_id int primary key,
    shop text not null,
    district text not null,
    contact text,
    credit_days int not null
);
create table drivers (
    driver_id int primary key,
    driver text not null,
    van text not null
);
create table orders (
    order_id int primary key,
    shop_id int not null references shops,
    driver_id int references drivers,
    deliver_on date not null,
    ordered_at timestamp not null,
    note text
);
create table order_items (
    order_id int not null references orders,
    bread_id int not null references breads,
    pieces int not null,
    returned int not null default 0,
    primary key (order_id, bread_id)
);
create table batches (
    batch_id int primary key,
    bread_id int not null references breads,
    baked_on date not null,
    pieces int not null,
    rejects int not null,
    flour_kg numeric(6, 1) not null,
    oven_minutes int not null,
    baker text not null
);
insert into breads values
    (1, 'Country Sourdough', 'bread', 1000, 420, true, null), (2, 'Rye Tin', 'bread', 750, 365, true, null), (3, 'Seeded Spelt', 'bread', 500, 395, true, null), (4, 'Brioche Loaf', 'bread', 400, 450, false, null), (5, 'Plain Roll', 'roll', 60, 45, true, null), (6, 'Poppy Roll', 'roll', 65, 55, true, null), (7, 'Pretzel', 'roll', 85, 70, false, null),
    (8, 'Butter Croissant', 'pastry', 70, 120, false, null), (9, 'Cinnamon Knot', 'pastry', 95, 165, false, null), (10, 'Apple Turnover', 'pastry', 110, 175, false, null), (11, 'Stollen', 'seasonal', 800, 1250, false, null), (12, 'Hot Cross Bun', 'seasonal', 80, 95, false, '2025-04-30'), (13, 'Potato Bread', 'bread', 750, 380, true, '2025-02-28');
insert into shops values (1, 'Corner Deli', 'Old Town', 'Rosa Blum', 14), (2, 'Fresh & Fair', 'Harbour', 'Igor Petric', 30), (3, 'Cafe Pelikan', 'Old Town', null, 14), (4, 'Station Kiosk', 'Station', 'Mo Aziz', 7), (5, 'Hotel Regent', 'Harbour', 'Clara Weiss', 30), (6, 'University Canteen', 'Campus', 'Jens Holm', 30), (7, 'Green Basket', 'Campus', null, 14), (8, 'Saturday Market Stall', 'Old Town', 'Rosa Blum', 7);
insert into drivers values (1, 'Nils Abel', 'van 1'), (2, 'Teresa Pinto', 'van 2'), (3, 'Omar Said', 'van 3'), (4, 'Vera Lind', 'spare van');
insert into orders
select n, (array[2, 1, 5, 6, 3, 2, 4, 6, 5, 1, 7, 6, 2])[1 + (n * 7919 % 1009) % 13], case when n > 176 or n % 40 = 7 then null else (array[1, 2, 2, 3, 1])[1 + (n * 3571 % 991) % 5] end, date '2025-09-15' + n * 91 / 185, timestamp '2025-09-13 10:20' + (n * 91 / 185) * interval '1 day' + (n * 47 % 600) * interval '1 minute',
    case when n % 23 = 0 then 'leave at back door' when n % 31 = 0 then 'before 6 am' end
from generate_series(1, 185) as n;
insert into order_items
select n, b, 4 + (n * 2741 % 983 + b * 7) % 37, case when n % 6 = 0 then (n * b) % 5 else 0 end
from generate_series(1, 185) as n, lateral (values ((array[1, 2, 1, 3, 4])[1 + n % 5]), ((array[5, 8, 6, 7, 8, 5, 8])[1 + (n * 1511 % 977) % 7])) as t(b);
insert into order_items select n, 11, 2 + n % 5, 0 from generate_series(150, 185, 4) as n;
insert into batches
select n, (array[1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 5, 8])[1 + n % 12], date '2025-10-01' + n * 70 / 120, 60 + (n * 6007 % 997) % 240, (n * 4447 % 1013) % 12, 12 + (n * 6007 % 997) % 240 * 0.2, (array[45, 50, 42, 35, 18, 18, 22, 20, 24, 45, 18, 20])[1 + n % 12] + n % 4, (array['Agnes', 'Boris', 'Agnes', 'Lucien', 'Agnes', 'Boris'])[1 + (n * 1511 % 977) % 6]
from generate_series(1, 120) as n;
