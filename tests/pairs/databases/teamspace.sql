-- A project tool's database. Amounts are in cents. Today is 2026-09-30.
create table clients (
    client_id int primary key,
    name text not null,
    country_code char(2) not null,
    created_at timestamp not null,
    seats int not null
);
create table members (
    member_id int primary key,
    client_id int not null references clients,
    full_name text not null,
    role text not null,
    joined_on date not null,
    last_login timestamp
);
create table projects (
    project_id int primary key,
    client_id int not null references clients,
    title text not null,
    budget_cents int,
    deadline date,
    archived boolean not null default false
);
create table tasks (
    task_id int primary key,
    project_id int not null references projects,
    summary text not null,
    assignee_id int references members,
    reporter_id int not null references members,
    status text not null,
    estimate_hours numeric(5, 1),
    created_on date not null,
    finished_on date
);
create table invoices (
    invoice_no text primary key,
    client_id int not null references clients,
    issued_on date not null,
    amount_cents int not null,
    paid_on date
);
create table task_tags (
    task_id int not null references tasks,
    tag text not null,
    primary key (task_id, tag)
);
insert into clients values
    (1, 'Alder & Co', 'GB', '2021-02-03 09:12', 40), (2, 'Bluefin Analytics', 'US', '2023-07-19 15:40', 12),
    (3, 'Cardamom Kitchen', 'IN', '2022-11-30 07:05', 9), (4, 'Drift Surveying', 'GB', '2024-03-08 11:22', 25),
    (5, 'Edda Verlag', 'DE', '2020-05-27 08:00', 18), (6, 'Fjord Films', 'NO', '2026-08-14 13:31', 5);
insert into members values
    (11, 1, 'Imogen Tate', 'owner', '2021-02-03', '2026-09-29 08:11'), (12, 1, 'Samir Patel', 'editor', '2022-06-15', '2026-09-28 17:40'),
    (13, 1, 'Ruth Calder', 'editor', '2025-01-20', '2026-05-02 10:00'), (14, 1, 'Owen Price', 'guest', '2026-03-01', null),
    (21, 2, 'Dolores Vega', 'owner', '2023-07-19', '2026-09-30 06:55'), (22, 2, 'Henry Cho', 'editor', '2024-10-07', '2026-09-15 12:20'),
    (31, 3, 'Anand Iyer', 'owner', '2022-11-30', '2026-08-21 09:09'), (32, 3, 'Meera Joshi', 'editor', '2023-04-11', '2026-09-27 20:15'),
    (41, 4, 'Fiona Baxter', 'owner', '2024-03-08', '2026-09-29 14:02'), (42, 4, 'Luke Adair', 'editor', '2024-03-12', '2026-09-26 16:45'),
    (51, 5, 'Greta Lindner', 'owner', '2020-05-27', '2026-07-30 11:11'), (61, 6, 'Sigrid Moe', 'owner', '2026-08-14', '2026-09-29 19:19');
insert into projects values
    (101, 1, 'Website relaunch', 1800000, '2026-10-31', false), (102, 1, 'Brochure 2025', 320000, '2025-04-15', true),
    (103, 2, 'Churn model', 2500000, '2026-12-15', false), (104, 3, 'Recipe app', 950000, '2026-09-10', false),
    (105, 4, 'Harbour survey', 4100000, '2027-02-28', false), (106, 4, 'Drone licences', null, '2026-11-05', false),
    (107, 5, 'Autumn catalogue', 600000, '2025-09-01', true), (108, 6, 'Short film', 150000, null, false);
insert into tasks values
    (1, 101, 'Sketch the home page', 12, 11, 'done', 6.0, '2026-06-01', '2026-06-09'), (2, 101, 'Write the copy', 13, 11, 'in review', 10.5, '2026-06-03', null),
    (3, 101, 'Fix the contact form', 12, 13, 'open', 2.0, '2026-09-14', null), (4, 101, 'Move the blog', 12, 12, 'done', 16.0, '2026-07-20', '2026-08-28'),
    (5, 102, 'Proofread', 13, 12, 'done', 3.5, '2025-03-02', '2025-03-11'), (6, 102, 'Order paper', null, 11, 'cancelled', null, '2025-03-05', null),
    (7, 103, 'Clean the exports', 22, 21, 'done', 24.0, '2026-02-10', '2026-03-01'), (8, 103, 'Train the baseline', 22, 21, 'in review', 40.0, '2026-03-02', null),
    (9, 103, 'Dashboard for sales', 21, 22, 'open', 12.0, '2026-09-01', null), (10, 104, 'Import the recipes', 32, 31, 'done', 8.0, '2026-05-05', '2026-05-19'),
    (11, 104, 'Search by ingredient', 32, 31, 'open', 20.0, '2026-05-20', null), (12, 104, 'Photo upload', 31, 32, 'open', 14.0, '2026-08-02', null),
    (13, 105, 'Book the boat', 42, 41, 'done', 1.0, '2026-01-15', '2026-01-16'), (14, 105, 'Calibrate the sonar', 42, 41, 'done', 30.0, '2026-02-01', '2026-04-20'),
    (15, 105, 'Draft the report', 41, 41, 'open', 36.0, '2026-09-21', null), (16, 106, 'Pass the theory test', 42, 41, 'open', null, '2026-09-02', null),
    (17, 107, 'Layout', 51, 51, 'done', 50.0, '2025-05-01', '2025-07-31'), (18, 108, 'Scout the locations', null, 61, 'open', 9.0, '2026-09-10', null);
insert into invoices values
    ('W-2025-031', 1, '2025-10-01', 48000, '2025-10-12'), ('W-2026-004', 1, '2026-01-02', 48000, '2026-01-20'), ('W-2026-018', 1, '2026-07-01', 52000, null),
    ('W-2026-006', 2, '2026-02-01', 14400, '2026-02-28'), ('W-2026-019', 2, '2026-08-01', 14400, '2026-08-09'), ('W-2025-033', 3, '2025-11-15', 10800, '2026-01-31'),
    ('W-2026-011', 4, '2026-04-01', 30000, '2026-04-03'), ('W-2026-022', 4, '2026-09-01', 31500, null), ('W-2025-012', 5, '2025-03-10', 21600, '2025-03-15'),
    ('W-2026-023', 6, '2026-09-14', 6000, null);
insert into task_tags values
    (1, 'design'), (2, 'writing'), (3, 'bug'), (4, 'migration'), (5, 'writing'), (7, 'data'), (8, 'data'), (8, 'research'), (9, 'design'), (9, 'data'),
    (10, 'data'), (10, 'migration'), (11, 'search'), (12, 'bug'), (12, 'design'), (14, 'research'), (15, 'writing'), (15, 'research');
