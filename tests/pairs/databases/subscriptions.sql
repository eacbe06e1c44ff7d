-- The database of a software service: keys are numbers, amounts are cents, states are codes. Today is 2026-05-12.
create table clients (
    id bigint primary key,
    company text not null,
    country_code char(2) not null,
    seats int not null,
    created_at timestamp not null,
    churned_at timestamp,
    account_manager text
);
create table plans (
    id bigint primary key,
    name text not null,
    price_cents int not null,
    billing_cycle text not null
);
create table subscriptions (
    id bigint primary key,
    client_id bigint not null references clients,
    plan_id bigint not null references plans,
    started_on date not null,
    trial boolean not null,
    state text not null,
    discount_percent numeric(4, 1)
);
create table invoices (
    id bigint primary key,
    client_id bigint not null references clients,
    issued_on date not null,
    total_cents int not null,
    paid_at timestamp,
    dunning_level int not null
);
create table seats_usage (
    id bigint primary key,
    client_id bigint not null references clients,
    month date not null,
    active_users int not null,
    api_calls int not null
);
insert into plans values (1, 'Starter', 1900, 'monthly'), (2, 'Team', 9900, 'monthly'), (3, 'Team yearly', 99000, 'yearly'), (4, 'Enterprise', 499000, 'yearly');
insert into clients select g, (array['Brightwater', 'Copperfield', 'Dunlin', 'Evergreen', 'Foxglove', 'Greyling', 'Harrowgate', 'Ivory Lane', 'Juniper Works', 'Kestrel', 'Larkspur', 'Mosswood', 'Northbank', 'Oakhurst'])[g],
    (array['GB', 'US', 'DE', 'FR', 'US', 'NL'])[1 + g % 6], 3 + (g * 37) % 91, timestamp '2021-01-10 09:00' + g * interval '123 days 5 hours', case when g % 5 = 2 then timestamp '2026-01-05 12:00' + g * interval '7 days' end,
    (array['Lena Frost', 'Tom Iqbal', null, 'Mira Santos'])[1 + g % 4] from generate_series(1, 14) g;
insert into subscriptions select 100 + g, 1 + g % 13, 1 + (g * 7) % 4, date '2023-02-01' + g * 41, g % 6 = 0, (array['active', 'active', 'paused', 'cancelled', 'active'])[1 + g % 5], case when g % 3 = 0 then 5 + g end from generate_series(1, 26) g;
insert into invoices select 9000 + g, 1 + (g * 5) % 12, date '2025-06-03' + g * 8, 1900 + (g * 7919) % 48000, case when g % 4 <> 0 then timestamp '2025-06-20 10:00' + g * interval '8 days' end, case when g % 4 = 0 then g % 3 else 0 end from generate_series(1, 42) g;
insert into seats_usage select g, 1 + g % 11, date '2025-11-01' + (g / 11) * interval '1 month', 2 + (g * 13) % 57, (g * 7411) % 90000 from generate_series(1, 55) g;
