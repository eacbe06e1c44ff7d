-- Export eines ERP-Systems einer Schreinerei mit Serienfertigung, mit Codes. Werte in Euro. Heute ist der 2026-06-11.
create table werke (
    werk char(4) primary key,
    bez text not null,
    ort text not null,
    ma_anzahl int not null
);
create table mat_stamm (
    matnr text primary key,
    kurztext text not null,
    mart char(4) not null,
    mengeneinh text not null,
    std_preis numeric(9, 2) not null,
    netto_gew_kg numeric(7, 2),
    loeschvorm boolean not null,
    anl_dat date not null
);
create table mat_bestand (
    matnr text not null references mat_stamm,
    werk char(4) not null references werke,
    frei_menge int not null,
    gesperrt_menge int not null,
    inv_dat date,
    primary key (matnr, werk)
);
create table fert_auftrag (
    auftr_nr int primary key,
    matnr text not null references mat_stamm,
    werk char(4) not null references werke,
    soll_menge int not null,
    ist_menge int not null,
    stat char(3) not null,
    start_dat date not null,
    end_dat date,
    disponent text not null
);
insert into werke values ('1000', 'Stammwerk', 'Rosenheim', 84), ('1100', 'Werk Süd', 'Bozen', 31), ('1200', 'Lager Nord', 'Kassel', 12);
insert into mat_stamm values
    ('T-100', 'Tischplatte Eiche', 'HALB', 'ST', 89.00, 24.50, false, '2018-02-12'), ('T-110', 'Tisch Alma', 'FERT', 'ST', 449.00, 38.00, false, '2018-03-01'), ('S-200', 'Stuhl Jona', 'FERT', 'ST', 139.00, 6.20, false, '2020-09-14'), ('S-210', 'Stuhl Kari', 'FERT', 'ST', 159.00, 5.80, true, '2021-05-20'),
    ('R-300', 'Buchenbohle', 'ROH', 'M3', 640.00, null, false, '2017-11-06'), ('R-310', 'Leim D3', 'ROH', 'L', 7.40, 1.10, false, '2017-11-07'), ('H-400', 'Schraube 4x40', 'HIBE', 'ST', 0.04, 0.01, false, '2017-11-08'), ('B-500', 'Bank Fenja', 'FERT', 'ST', 329.00, 29.00, false, '2025-10-02');
insert into mat_bestand values
    ('T-100', '1000', 120, 4, '2026-01-15'), ('T-110', '1000', 35, 0, '2026-01-15'), ('T-110', '1200', 18, 2, null), ('S-200', '1100', 260, 0, '2026-02-03'), ('S-210', '1200', 9, 9, '2025-12-19'), ('R-300', '1000', 14, 0, '2026-03-30'), ('R-310', '1000', 85, 5, null), ('H-400', '1000', 41000, 0, '2026-01-15'), ('B-500', '1100', 22, 1, '2026-02-03');
insert into fert_auftrag values
    (70001, 'T-110', '1000', 40, 40, 'ABG', '2026-01-12', '2026-02-06', 'Huber'), (70002, 'S-200', '1100', 200, 200, 'ABG', '2026-02-02', '2026-03-05', 'Pichler'), (70003, 'T-100', '1000', 90, 60, 'TEI', '2026-04-13', null, 'Huber'), (70004, 'B-500', '1100', 25, 25, 'ABG', '2026-03-16', '2026-04-10', 'Pichler'),
    (70005, 'T-110', '1000', 50, 0, 'ERO', '2026-05-18', null, 'Aydin'), (70006, 'S-200', '1100', 150, 30, 'TEI', '2026-05-25', null, 'Pichler'), (70007, 'S-210', '1000', 60, 0, 'STO', '2025-11-03', null, 'Huber'), (70008, 'B-500', '1100', 10, 0, 'ERO', '2026-06-08', null, 'Pichler');
