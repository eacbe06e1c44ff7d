-- Measurements of a laboratory for drinking water. Today is 2026-10-14.
create table sites (
    site_code text primary key,
    description text not null,
    district text not null,
    depth_m numeric(6, 1),
    protected_zone boolean not null
);
create table analysts (
    analyst_id int primary key,
    surname text not null,
    qualified_since date not null,
    part_time boolean not null
);
create table samples (
    sample_no int primary key,
    site_code text not null references sites,
    taken_at timestamp not null,
    taken_by int references analysts,
    volume_ml int not null,
    rejected_reason text
);
create table parameters (
    symbol text primary key,
    full_name text not null,
    unit text not null,
    limit_value numeric(8, 3)
);
create table readings (
    sample_no int not null references samples,
    symbol text not null references parameters,
    value numeric(10, 3) not null,
    flagged boolean not null,
    analysed_on date not null,
    primary key (sample_no, symbol)
);
insert into sites values ('W-01', 'Kingsmead borehole', 'North', 84.0, true), ('W-02', 'Ferry Lane well', 'South', 31.5, false), ('W-03', 'Ridge reservoir outlet', 'North', null, true), ('W-04', 'Mill Brook intake', 'East', 2.2, false), ('W-05', 'Chapel spring', 'South', 0.4, true);
insert into analysts values (1, 'Bergstrom', '2011-04-01', false), (2, 'Chaudhry', '2019-09-16', true), (3, 'Delacroix', '2024-06-03', false), (4, 'Eastman', '2026-02-09', true);
insert into samples values
    (5001, 'W-01', '2026-08-03 09:10', 1, 1000, null), (5002, 'W-02', '2026-08-05 10:40', 2, 500, null), (5003, 'W-03', '2026-08-19 08:25', 1, 1000, null), (5004, 'W-04', '2026-09-02 11:15', 3, 250, 'seal broken'),
    (5005, 'W-04', '2026-09-04 09:50', 3, 500, null), (5006, 'W-01', '2026-09-07 13:30', 2, 1000, null), (5007, 'W-02', '2026-09-21 07:55', 1, 750, null), (5008, 'W-03', '2026-10-01 10:05', null, 1000, null), (5009, 'W-04', '2026-10-06 09:00', 2, 250, 'too warm'), (5010, 'W-01', '2026-10-12 15:20', 1, 2000, null);
insert into parameters values ('NO3', 'nitrate', 'mg/l', 50), ('PB', 'lead', 'ug/l', 10), ('FE', 'iron', 'ug/l', 200), ('PH', 'acidity', 'pH', null), ('ECOLI', 'coliform bacteria', 'cfu', 0), ('CL', 'chloride', 'mg/l', 250);
insert into readings values
    (5001, 'NO3', 18.2, false, '2026-08-04'), (5001, 'PH', 7.31, false, '2026-08-03'), (5001, 'FE', 44, false, '2026-08-06'), (5002, 'NO3', 53.9, true, '2026-08-06'), (5002, 'PB', 3.1, false, '2026-08-07'), (5003, 'PH', 7.84, false, '2026-08-19'),
    (5003, 'CL', 61, false, '2026-08-21'), (5005, 'ECOLI', 12, true, '2026-09-05'), (5005, 'NO3', 37.5, false, '2026-09-05'), (5005, 'PH', 6.92, false, '2026-09-04'), (5006, 'FE', 231, true, '2026-09-09'), (5006, 'PB', 1.4, false, '2026-09-10'),
    (5007, 'NO3', 49.1, false, '2026-09-22'), (5007, 'ECOLI', 0, false, '2026-09-23'), (5008, 'PH', 7.77, false, '2026-10-01'), (5010, 'NO3', 17.6, false, '2026-10-13'), (5010, 'CL', 44.5, false, '2026-10-13');
