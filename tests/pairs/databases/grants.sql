-- A foundation that gives grants in several currencies. Today is 2025-11-05.
create table programmes (
    id int primary key,
    name text not null,
    theme text not null,
    budget_eur numeric(12, 2) not null
);
create table organisations (
    id int primary key,
    legal_name text not null,
    short_name text,
    country text not null,
    founded int,
    staff int
);
create table officers (
    id int primary key,
    name text not null,
    office text not null
);
create table grants (
    ref text primary key,
    title text not null,
    programme_id int not null references programmes,
    organisation_id int not null references organisations,
    officer_id int not null references officers,
    amount numeric(12, 2) not null,
    currency char(3) not null,
    approved_on date not null,
    starts_on date not null,
    months int not null,
    status text not null
);
create table payments (
    id int primary key,
    grant_ref text not null references grants,
    due_on date not null,
    paid_on date,
    amount numeric(12, 2) not null
);
create table reports (
    id int primary key,
    grant_ref text not null references grants,
    kind text not null,
    due_on date not null,
    received_on date,
    rating int
);
insert into programmes values (1, 'Clean Rivers', 'environment', 1800000), (2, 'First Books', 'education', 650000), (3, 'Open Courts', 'justice', 900000), (4, 'Village Clinics', 'health', 2400000), (5, 'Night Sky', 'science', 300000);
insert into organisations values
    (1, 'Stiftung Lebendiger Fluss', 'SLF', 'Germany', 1994, 32), (2, 'Amis de la Loire', null, 'France', 2006, 8), (3, 'Bibliobus Kenya Trust', 'BKT', 'Kenya', 2012, 21), (4, 'Legal Aid Collective', 'LAC', 'Kenya', 1989, 54), (5, 'Read Together Scotland', 'RTS', 'United Kingdom', 2001, 17),
    (6, 'Clinica Rural Oaxaca', 'CRO', 'Mexico', 1998, 40), (7, 'Health Without Roads', 'HWR', 'United Kingdom', 2015, 12), (8, 'Dunkler Himmel Rhön e.V.', null, 'Germany', 2018, 3), (9, 'Salmon Watch', 'SW', 'United Kingdom', null, 6), (10, 'Justicia Abierta', 'JA', 'Mexico', 2010, 15);
insert into officers values (1, 'Miriam Okoye', 'London'), (2, 'Stefan Lindqvist', 'Berlin'), (3, 'Pilar Montes', 'Mexico City'), (4, 'Geoffrey Hale', 'London');
insert into grants values
    ('G-2301', 'Fish ladders on the Saale', 1, 1, 2, 180000, 'EUR', '2023-02-14', '2023-04-01', 24, 'closed'), ('G-2302', 'Mobile libraries in Kisumu', 2, 3, 1, 75000, 'USD', '2023-03-30', '2023-05-01', 18, 'closed'), ('G-2303', 'Bail fund and court watch', 3, 4, 1, 120000, 'USD', '2023-06-21', '2023-09-01', 36, 'active'),
    ('G-2304', 'Storytime in the Highlands', 2, 5, 1, 42000, 'GBP', '2023-09-12', '2023-10-01', 12, 'closed'), ('G-2401', 'Cleaning the upper Loire', 1, 2, 2, 96000, 'EUR', '2024-01-25', '2024-03-01', 24, 'active'), ('G-2402', 'Midwives by motorbike', 4, 7, 1, 210000, 'GBP', '2024-02-20', '2024-04-01', 30, 'active'),
    ('G-2403', 'Vaccines for the Mixteca', 4, 6, 3, 340000, 'USD', '2024-05-17', '2024-07-01', 24, 'active'), ('G-2404', 'Star park Rhön', 5, 8, 2, 28000, 'EUR', '2024-06-06', '2024-08-01', 12, 'closed'), ('G-2405', 'Judges'' open data portal', 3, 10, 3, 88000, 'USD', '2024-09-30', '2024-11-01', 18, 'active'),
    ('G-2406', 'Salmon counters', 1, 9, 1, 54000, 'GBP', '2024-11-11', '2025-01-01', 24, 'suspended'), ('G-2501', 'Second library bus', 2, 3, 1, 98000, 'USD', '2025-02-03', '2025-03-01', 18, 'active'), ('G-2502', 'River school', 1, 1, 2, 64000, 'EUR', '2025-03-19', '2025-05-01', 12, 'active'),
    ('G-2503', 'Solar fridges for clinics', 4, 7, 1, 155000, 'GBP', '2025-04-28', '2025-06-01', 24, 'active'), ('G-2504', 'Clinic on the Sierra road', 4, 6, 3, 275000, 'USD', '2025-06-10', '2025-09-01', 36, 'active'), ('G-2505', 'Paralegals in six counties', 3, 4, 1, 133000, 'USD', '2025-09-08', '2025-11-01', 24, 'active'),
    ('G-2506', 'Dark streets pilot', 5, 8, 2, 19000, 'EUR', '2025-10-14', '2026-01-01', 9, 'approved'), ('G-2507', 'Riverkeepers of Saxony', 1, 1, 2, 150000, 'EUR', '2025-10-27', '2026-02-01', 24, 'approved');
insert into payments
select row_number() over (order by ref, k), ref, starts_on + k * 180, case when starts_on + k * 180 > '2025-10-20' or (k = 2 and status = 'suspended') or (ref = 'G-2405' and k = 1) then null else starts_on + k * 180 + 3 + (k * 7 + months) % 11 end, round(amount / 4, 2)
from grants, generate_series(0, 3) as k where status <> 'approved' and k * 180 < months * 31;
insert into reports
select row_number() over (order by ref, k), ref, case when k * 6 >= months then 'final' when k % 2 = 1 then 'interim' else 'annual' end, starts_on + k * 182 + 30, case when starts_on + k * 182 + 30 > '2025-10-25' or (ref in ('G-2406', 'G-2303') and k = 2) then null else starts_on + k * 182 + 30 - 12 + (k * 13 + months) % 26 end,
    case when starts_on + k * 182 + 30 > '2025-09-25' or (ref in ('G-2406', 'G-2303') and k = 2) then null else 2 + (k + months / 6 + length(title)) % 4 end
from grants, generate_series(1, 6) as k where status <> 'approved' and k * 6 <= months;
