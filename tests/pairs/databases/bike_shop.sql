-- A bicycle shop with a workshop. Prices are in whole pounds and pence (numeric). Today is 2025-11-05.
create table suppliers (
    supplier_id int primary key,
    supplier_name text not null,
    country text not null
);
create table products (
    sku text primary key,
    title text not null,
    category text not null,
    supplier_id int references suppliers,
    price numeric(8, 2) not null,
    cost numeric(8, 2) not null,
    in_stock int not null,
    weight_kg numeric(5, 2)
);
create table customers (
    customer_id int primary key,
    first_name text not null,
    last_name text not null,
    town text not null,
    newsletter boolean not null,
    joined date not null
);
create table sales (
    sale_id int primary key,
    customer_id int references customers,
    sold_on date not null,
    channel text not null
);
create table sale_lines (
    sale_id int not null references sales,
    sku text not null references products,
    quantity int not null,
    unit_price numeric(8, 2) not null,
    primary key (sale_id, sku)
);
create table mechanics (
    mechanic_id int primary key,
    name text not null,
    level text not null
);
create table repairs (
    ticket_no int primary key,
    customer_id int not null references customers,
    mechanic_id int references mechanics,
    bike text not null,
    fault text not null,
    received date not null,
    finished date,
    labour_hours numeric(4, 1),
    charge numeric(8, 2)
);
insert into suppliers values (1, 'Velorama', 'Netherlands'), (2, 'Pennine Cycles', 'United Kingdom'), (3, 'Officine Bianchetti', 'Italy'),
    (4, 'Shimura Parts', 'Japan'), (5, 'Nordlys Lighting', 'Denmark');
insert into products values
    ('BK-01', 'Moorland Trekker 54', 'bike', 2, 1249.00, 830.00, 3, 13.40),
    ('BK-02', 'City Hopper Step-Through', 'bike', 1, 689.00, 420.00, 6, 15.10),
    ('BK-03', 'Strada Veloce Carbon', 'bike', 3, 3890.00, 2700.00, 1, 7.20),
    ('BK-04', 'Kids Rocket 20', 'bike', 1, 299.00, 180.00, 9, 9.80),
    ('BK-05', 'Cargo Mule Electric', 'e-bike', 1, 4599.00, 3350.00, 0, 34.00),
    ('BK-06', 'E-Commuter 400', 'e-bike', 2, 2150.00, 1500.00, 2, 22.50),
    ('HE-01', 'Peloton Helmet M', 'helmet', 3, 89.90, 40.00, 14, 0.26),
    ('HE-02', 'Kiddo Helmet S', 'helmet', 1, 34.50, 15.00, 20, 0.24),
    ('HE-03', 'Aero Time Trial Helmet', 'helmet', 3, 210.00, 118.00, 0, 0.35),
    ('LI-01', 'Aurora Front Light', 'light', 5, 45.00, 19.00, 31, 0.12),
    ('LI-02', 'Glow Worm Rear Light', 'light', 5, 19.99, 7.50, 48, 0.05),
    ('TY-01', 'Gravel King Tyre 40', 'tyre', 4, 38.00, 17.00, 22, 0.49),
    ('TY-02', 'Slick Road Tyre 25', 'tyre', 4, 42.50, 20.00, 17, 0.23),
    ('TY-03', 'Winter Spike Tyre', 'tyre', 4, 61.00, 33.00, 4, 0.95),
    ('LO-01', 'Bulldog D-Lock', 'lock', 2, 54.00, 24.00, 11, 1.60),
    ('LO-02', 'Folding Lock Compact', 'lock', null, 72.00, 35.00, 7, 1.05),
    ('CL-01', 'Rain Cape Yellow', 'clothing', null, 49.00, 21.00, 0, 0.40),
    ('CL-02', 'Merino Jersey Women', 'clothing', 3, 95.00, 44.00, 8, 0.22);
insert into customers
select n,
    (array['Olive', 'Prakash', 'Rowan', 'Siobhan', 'Ted', 'Uma', 'Violet', 'Wilfred', 'Yasmin', 'Zack', 'Amelia', 'Bertie'])[1 + (n * 5) % 12],
    (array['Ainsworth', 'Barker', 'Chowdhury', 'Dunn', 'Entwistle', 'Fairclough', 'Greenhalgh'])[1 + (n * 3) % 7],
    (array['Hebden Bridge', 'Todmorden', 'Halifax', 'Hebden Bridge', 'Huddersfield', 'Halifax', 'Hebden Bridge', 'Leeds'])[1 + n % 8],
    n % 3 <> 0,
    date '2021-02-03' + n * 38
from generate_series(1, 44) as n;
insert into sales
select n,
    case when n % 5 = 0 then null else (array[3, 7, 12, 7, 21, 30, 7, 35, 12, 40, 18, 26, 2, 9])[1 + (n * 7919 % 1009) % 14] end,
    date '2025-03-01' + (n * 248 / 120),
    (array['shop', 'shop', 'website', 'shop', 'phone', 'website', 'shop'])[1 + (n * 3571 % 991) % 7]
from generate_series(1, 120) as n;
insert into sale_lines
select n, p.sku, 1 + (n * 31 % 37) % 3, p.price
from generate_series(1, 120) as n join products as p
    on p.sku = (array['BK-02', 'LI-01', 'HE-01', 'TY-01', 'BK-04', 'LO-01', 'LI-02', 'CL-02', 'BK-01', 'TY-02', 'HE-02', 'LI-02', 'BK-06', 'TY-01'])[1 + (n * 4447 % 1013) % 14];
insert into sale_lines
select n, 'LI-02', 1, 18.50 from generate_series(3, 120, 6) as n
on conflict do nothing;
insert into mechanics values (1, 'Gaz Holroyd', 'senior'), (2, 'Meera Nair', 'senior'), (3, 'Callum Reid', 'apprentice'), (4, 'Jo Pickles', 'junior');
insert into repairs
select 5000 + n,
    1 + (n * 6007 % 997) % 41,
    case when n > 66 then null else (array[1, 2, 2, 4, 1, 2, 4])[1 + (n * 2741 % 983) % 7] end,
    (array['Trek Marlin', 'Brompton', 'Specialized Allez', 'Raleigh Chopper', 'Brompton', 'Giant Defy'])[1 + (n * 11) % 6],
    (array['puncture', 'worn brake pads', 'buckled wheel', 'gears slipping', 'puncture', 'snapped chain', 'creaking bottom bracket'])[1 + (n * 1511 % 977) % 7],
    date '2025-06-02' + n * 2 + n / 6,
    case when n > 60 then null else date '2025-06-02' + n * 2 + n / 6 + 1 + (n * 13) % 9 end,
    case when n > 60 then null else 0.5 + (n * 17 % 11) * 0.5 end,
    case when n > 60 then null else 18 + (n * 17 % 11) * 22.5 end
from generate_series(1, 70) as n;
