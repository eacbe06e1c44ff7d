-- Export of a wholesaler of garden tools with codes for states. Prices are in US dollars. Today is 2026-03-05.
create table vend (
    vend_cd text primary key,
    vend_nm text not null,
    city text not null,
    lead_days int not null
);
create table items (
    item_no text primary key,
    descr text not null,
    grp text not null,
    unit_cost numeric(8, 2) not null,
    list_price numeric(8, 2) not null,
    qty_on_hand int not null,
    reorder_lvl int not null,
    wt_lb numeric(6, 1),
    vend_cd text references vend,
    discontinued boolean not null
);
create table cust (
    cust_no int primary key,
    cust_nm text not null,
    st char(2) not null,
    credit_limit int,
    opened date not null
);
create table so_hdr (
    so_no int primary key,
    cust_no int not null references cust,
    ord_dt date not null,
    ship_dt date,
    stat text not null,
    ship_from text not null,
    ship_to text not null
);
create table so_line (
    so_no int not null references so_hdr,
    ln int not null,
    item_no text not null references items,
    qty int not null,
    unit_price numeric(8, 2) not null,
    primary key (so_no, ln)
);
insert into vend values ('BRK', 'Brookfield Forge', 'Dayton', 21), ('HMT', 'Hamato Tools', 'Reno', 45), ('LNG', 'Langley Plastics', 'Tulsa', 10), ('OAK', 'Oak & Ash', 'Boise', 14);
insert into items values
    ('SP-100', 'Digging spade', 'hand tools', 14.50, 32.00, 220, 80, 4.8, 'BRK', false), ('SP-110', 'Border fork', 'hand tools', 12.25, 28.50, 64, 70, 3.9, 'BRK', false), ('PR-200', 'Bypass pruner', 'cutting', 9.80, 24.00, 410, 150, 0.6, 'HMT', false),
    ('PR-230', 'Lopper long', 'cutting', 19.90, 46.00, 38, 40, 3.1, 'HMT', false), ('WC-300', 'Watering can', 'watering', 3.40, 11.00, 530, 200, 1.4, 'LNG', false), ('HS-310', 'Hose 100 ft', 'watering', 21.00, 52.00, 0, 60, 9.5, 'LNG', false),
    ('WB-400', 'Wheelbarrow', 'transport', 48.00, 119.00, 27, 15, 31.0, 'OAK', false), ('CT-410', 'Garden cart', 'transport', 88.00, 215.00, 6, 5, 52.5, 'OAK', true), ('GL-500', 'Gloves leather', 'wear', 5.10, 15.00, 300, 100, 0.3, null, false);
insert into cust values
    (501, 'Green Acre Supply', 'OH', 20000, '2011-04-04'), (502, 'Petal & Stem', 'OR', 5000, '2019-10-21'), (503, 'Homestead Depot', 'TX', 60000, '2008-01-15'), (504, 'Fern Street', 'OR', null, '2024-06-30'), (505, 'Valley Co-op', 'ID', 15000, '2015-08-12'), (506, 'New Leaf', 'CA', 2500, '2026-01-19');
insert into so_hdr values
    (7001, 501, '2025-11-12', '2025-11-15', 'shipped', 'Dayton', 'Columbus'), (7002, 503, '2025-11-30', '2025-12-04', 'shipped', 'Tulsa', 'Austin'), (7003, 502, '2025-12-18', '2026-01-02', 'shipped', 'Reno', 'Portland'), (7004, 503, '2026-01-09', '2026-01-12', 'shipped', 'Dayton', 'Austin'),
    (7005, 505, '2026-01-25', null, 'cancelled', 'Reno', 'Boise'), (7006, 501, '2026-02-03', '2026-02-08', 'shipped', 'Dayton', 'Dayton'), (7007, 503, '2026-02-17', null, 'open', 'Tulsa', 'Dallas'), (7008, 502, '2026-02-26', null, 'open', 'Reno', 'Portland'), (7009, 503, '2026-03-02', null, 'open', 'Dayton', 'Austin');
insert into so_line values
    (7001, 1, 'SP-100', 60, 29.00), (7001, 2, 'GL-500', 100, 13.00), (7002, 1, 'WC-300', 300, 9.50), (7002, 2, 'HS-310', 40, 49.00), (7003, 1, 'PR-200', 50, 22.00), (7004, 1, 'WB-400', 12, 110.00), (7004, 2, 'SP-110', 30, 26.00),
    (7005, 1, 'PR-230', 10, 46.00), (7006, 1, 'SP-100', 40, 29.50), (7007, 1, 'WC-300', 150, 9.75), (7008, 1, 'PR-200', 25, 24.00), (7008, 2, 'PR-230', 8, 44.00), (7009, 1, 'CT-410', 2, 199.00), (7009, 2, 'WB-400', 5, 112.00);
