-- Sales of a software firm: keys are numbers, amounts whole euros. Today is 2026-10-20.
create table companies (
    company_id int primary key,
    company_name text not null,
    sector text not null,
    hq_city text not null,
    employee_count int,
    became_customer_on date
);
create table contacts (
    contact_id int primary key,
    company_id int not null references companies,
    contact_name text not null,
    job_title text,
    email text,
    last_contacted date
);
create table reps (
    rep_id int primary key,
    rep_name text not null,
    region text not null,
    hired_on date not null,
    quota_eur int not null
);
create table deals (
    deal_id int primary key,
    company_id int not null references companies,
    owner_id int references reps,
    deal_name text not null,
    stage text not null,
    value_eur int not null,
    opened_on date not null,
    closed_on date,
    is_renewal boolean not null
);
create table activities (
    activity_id int primary key,
    deal_id int not null references deals,
    kind text not null,
    happened_at timestamp not null,
    minutes int
);
insert into companies values
    (1, 'Vela Optics', 'manufacturing', 'Porto', 210, '2022-03-01'), (2, 'Hexlane', 'logistics', 'Ghent', 85, '2024-05-17'), (3, 'Mondrop', 'retail', 'Lille', 1400, null),
    (4, 'Quarter Mile', 'logistics', 'Graz', 40, '2020-11-12'), (5, 'Sundial Care', 'health', 'Cork', 320, '2025-01-30'), (6, 'Tinkerbox', 'retail', 'Malmo', 12, null), (7, 'Orla Foods', 'manufacturing', 'Cork', 530, '2021-07-08');
insert into contacts values
    (11, 1, 'Rui Matos', 'Head of IT', 'rui@vela.example', '2026-10-02'), (12, 1, 'Ines Prado', 'CFO', null, '2026-08-19'), (13, 2, 'Lotte Maes', 'COO', 'lotte@hexlane.example', '2026-09-30'),
    (14, 3, 'Jean Aubry', 'Buyer', 'ja@mondrop.example', null), (15, 4, 'Franz Eder', 'Owner', null, '2026-01-15'), (16, 5, 'Aoife Walsh', 'Head of IT', 'aoife@sundial.example', '2026-10-18'), (17, 7, 'Con Lynch', 'CFO', 'con@orla.example', '2025-12-01');
insert into reps values (1, 'Nadia Stein', 'north', '2019-09-02', 900000), (2, 'Bo Carlsson', 'south', '2022-01-10', 600000), (3, 'Elif Demir', 'north', '2025-04-01', 400000), (4, 'Hugo Faria', 'west', '2026-08-15', 250000);
insert into deals values
    (101, 1, 1, 'Vela rollout', 'won', 240000, '2025-11-03', '2026-02-20', false), (102, 1, 1, 'Vela renewal 2026', 'negotiation', 80000, '2026-09-01', null, true), (103, 2, 2, 'Hexlane routing', 'won', 65000, '2026-01-22', '2026-04-30', false),
    (104, 2, 3, 'Hexlane tablets', 'lost', 30000, '2026-03-15', '2026-05-11', false), (105, 3, 2, 'Mondrop tills', 'proposal', 310000, '2026-06-08', null, false), (106, 4, 3, 'Quarter Mile renewal', 'won', 18000, '2026-08-04', '2026-08-28', true),
    (107, 5, 1, 'Sundial rota', 'negotiation', 125000, '2026-07-19', null, false), (108, 6, null, 'Tinkerbox trial', 'qualified', 6000, '2026-10-05', null, false), (109, 7, 2, 'Orla traceability', 'lost', 150000, '2025-06-11', '2025-10-02', false), (110, 7, 3, 'Orla renewal', 'won', 92000, '2026-05-03', '2026-06-27', true);
insert into activities values
    (1, 101, 'demo', '2025-11-20 10:00', 60), (2, 101, 'call', '2026-01-14 15:30', 25), (3, 102, 'call', '2026-09-11 09:00', 15), (4, 103, 'demo', '2026-02-03 13:00', 75), (5, 105, 'meeting', '2026-06-30 11:00', 90),
    (6, 105, 'call', '2026-09-02 16:00', 20), (7, 107, 'demo', '2026-08-06 10:30', 45), (8, 107, 'meeting', '2026-10-12 14:00', 120), (9, 110, 'call', '2026-05-20 12:00', 10), (10, 103, 'call', '2026-04-01 08:45', 30), (11, 104, 'demo', '2026-04-09 10:00', 50);
