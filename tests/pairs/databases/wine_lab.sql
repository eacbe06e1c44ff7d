-- A wine laboratory: batches, analyses and the values that instruments measure. Today is 2026-11-05.
create table wineries (
    code text primary key,
    name text not null,
    region text not null,
    vineyard_ha numeric(6, 1) not null,
    organic boolean not null
);
create table batches (
    lot text primary key,
    winery_code text not null references wineries,
    grape text not null,
    harvest_year int not null,
    received_on date not null,
    volume_l numeric(8, 1) not null,
    fault text
);
create table instruments (
    serial_no text primary key,
    maker text not null,
    kind text not null,
    calibrated_on date,
    out_of_service boolean not null
);
create table assays (
    assay_no int primary key,
    lot text not null references batches,
    serial_no text references instruments,
    analyte text not null,
    result_value numeric(9, 3) not null,
    uncertainty numeric(6, 3),
    measured_at timestamp not null,
    technician text not null,
    valid boolean not null
);
insert into wineries select 'WY' || (10 + g), (array['Domaine Pascal', 'Weingut Ahorn', 'Podere Lupo', 'Quinta Velha', 'Hill of Grace End', 'Ridge Hollow'])[g], (array['Loire', 'Mosel', 'Tuscany', 'Douro', 'Loire', 'Mosel'])[g], 2.5 + g * 7.3, g % 2 = 0 from generate_series(1, 6) g;
insert into batches select 'L-' || (300 + g * 3), 'WY' || (11 + g % 5), (array['Riesling', 'Merlot', 'Chenin', 'Touriga', 'Pinot Noir'])[1 + (g * 3) % 5], 2019 + g % 7, date '2025-01-20' + g * 23, 50 + (g * 733) % 4100, case when g % 6 = 1 then (array['cork taint', 'oxidised', 'cloudy'])[1 + g % 3] end from generate_series(1, 28) g;
insert into instruments select 'SN-' || (9000 + g * 37), (array['Anton', 'Metro', 'Foss'])[1 + g % 3], (array['densimeter', 'titrator', 'spectrometer', 'pH meter'])[1 + g % 4], case when g <> 4 then date '2025-10-02' + g * 39 end, g % 5 = 0 from generate_series(1, 9) g;
insert into assays select g, 'L-' || (303 + (g * 5) % 26 * 3), case when g % 11 <> 0 then 'SN-' || (9000 + (1 + g % 7) * 37) end, (array['alcohol', 'acidity', 'sugar', 'sulphite', 'pH'])[1 + g % 5], 0.4 + (g * 389) % 1600 / 10.0, case when g % 4 > 0 then (g % 9) / 20.0 + 0.01 end, timestamp '2026-01-07 08:30' + g * interval '3 days 2 hours', (array['Orsini', 'Beck', 'Lemaire', 'Nash'])[1 + (g * 7) % 4], g % 8 <> 3 from generate_series(1, 90) g;
