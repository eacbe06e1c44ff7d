-- A software company's help desk. Contracts are in US dollars. Today is 2026-03-18.
create table accounts (
    id int primary key,
    company text not null,
    plan text not null,
    seats int not null,
    country text not null,
    renews_on date not null,
    annual_fee numeric(10, 2) not null
);
create table agents (
    id int primary key,
    name text not null,
    team text not null,
    timezone text not null,
    started_on date not null
);
create table tickets (
    id int primary key,
    account_id int not null references accounts,
    assignee_id int references agents,
    subject text not null,
    product text not null,
    priority text not null,
    state text not null,
    opened_at timestamp not null,
    first_reply_minutes int,
    closed_at timestamp
);
create table ratings (
    ticket_id int primary key references tickets,
    stars int not null check (stars between 1 and 5),
    comment text
);
create table articles (
    id int primary key,
    title text not null,
    product text not null,
    author_id int not null references agents,
    published_on date not null,
    views int not null
);
insert into accounts values
    (1, 'Brightwater Logistics', 'enterprise', 420, 'US', '2026-06-01', 84000), (2, 'Tessellate Studio', 'team', 18, 'UK', '2026-04-12', 2160),
    (3, 'Omicron Foods', 'business', 95, 'US', '2026-03-30', 14250), (4, 'Kuusisto Oy', 'business', 60, 'FI', '2026-09-15', 9000),
    (5, 'Fennel & Rye', 'team', 7, 'US', '2026-11-20', 840), (6, 'Maison Duroc', 'team', 25, 'FR', '2027-01-08', 3000),
    (7, 'Grau Versicherung', 'enterprise', 310, 'DE', '2026-12-31', 65100), (8, 'Pelican Charter', 'free', 3, 'US', '2026-08-01', 0),
    (9, 'Northgate Schools', 'business', 140, 'UK', '2026-03-10', 18200), (10, 'Aster Labs', 'free', 5, 'CA', '2026-05-05', 0);
insert into agents values
    (1, 'Priya Raman', 'billing', 'Europe/London', '2021-05-03'), (2, 'Joel Eriksen', 'platform', 'Europe/Oslo', '2019-01-14'),
    (3, 'Dana Whitfield', 'platform', 'America/Chicago', '2024-02-26'), (4, 'Kenji Mori', 'mobile', 'Asia/Tokyo', '2022-10-10'),
    (5, 'Luisa Ferrante', 'mobile', 'Europe/Rome', '2025-12-01'), (6, 'Abel Stone', 'onboarding', 'America/Denver', '2026-03-02');
insert into tickets
select 3000 + n,
    (array[1, 3, 7, 1, 9, 2, 4, 1, 7, 3, 6, 5, 1])[1 + (n * 7919 % 1009) % 13],
    case when n % 12 = 0 then null else (array[1, 2, 3, 2, 4, 2, 5, 3])[1 + (n * 3571 % 991) % 8] end,
    (array['Cannot log in', 'Invoice shows wrong seats', 'Export hangs', 'App crashes on start', 'Sync conflict', 'Password reset mail missing', 'Export hangs', 'SSO redirect loop'])[1 + (n * 2741 % 983) % 8],
    (array['web', 'billing', 'web', 'ios', 'sync', 'android', 'web', 'api'])[1 + (n * 1511 % 977) % 8],
    case when n % 19 = 0 then 'urgent' else (array['low', 'normal', 'normal', 'high', 'normal'])[1 + (n * 4447 % 1013) % 5] end,
    case when n <= 132 and n % 23 <> 0 then 'closed' when n % 3 = 0 then 'waiting' else 'open' end,
    timestamp '2025-10-06 08:10' + n * interval '25 hours 47 minutes',
    case when n > 146 then null else 4 + (n * 6007 % 997) % 400 end,
    case when n <= 132 and n % 23 <> 0 then timestamp '2025-10-06 08:10' + n * interval '25 hours 47 minutes' + (1 + (n * 17) % 90) * interval '1 hour 20 minutes' end
from generate_series(1, 150) as n;
insert into ratings
select id, (array[5, 4, 5, 3, 5, 1, 4, 2, 5])[1 + (id * 7919 % 1009) % 9], case when id % 5 = 0 then 'Quick and friendly' when id % 7 = 0 then 'Took too long' end
from tickets where state = 'closed' and id % 2 = 0;
insert into articles values
    (1, 'Setting up single sign-on', 'web', 2, '2025-02-11', 4120), (2, 'Reading your invoice', 'billing', 1, '2024-08-30', 2875), (3, 'Resolve sync conflicts', 'sync', 3, '2025-11-19', 980),
    (4, 'Push notifications on iPhone', 'ios', 4, '2025-06-05', 1410), (5, 'API rate limits', 'api', 2, '2026-01-22', 655), (6, 'Exporting large projects', 'web', 3, '2026-02-09', 310), (7, 'Android battery settings', 'android', 4, '2023-12-12', 1985);
