-- The log of a mobile app: devices, sessions and what happened in them. Times are UTC, sizes bytes. Today is 2026-04-22.
create table devices (
    device_id text primary key,
    os text not null,
    os_version text not null,
    model text not null,
    first_seen timestamp not null,
    locale text not null,
    push_enabled boolean not null
);
create table sessions (
    session_id int primary key,
    device_id text not null references devices,
    began_at timestamp not null,
    duration_s int not null,
    network text not null,
    app_version text not null,
    crashed boolean not null
);
create table log_lines (
    line_id int primary key,
    session_id int not null references sessions,
    ts timestamp not null,
    level text not null,
    event_name text not null,
    latency_ms int,
    payload_bytes int not null,
    error_code text
);
insert into devices select 'dev-' || (7000 + g * 13), (array['ios', 'android', 'android'])[1 + g % 3], (array['17.2', '14', '13', '16.9'])[1 + g % 4], (array['Pixel 7', 'Galaxy S22', 'iPhone 14', 'Xperia 5', 'iPhone SE'])[1 + g % 5], timestamp '2024-02-01 08:00' + g * interval '61 days 3 hours', (array['en_GB', 'de_DE', 'fr_FR', 'en_US'])[1 + g % 4], g % 3 <> 1 from generate_series(1, 12) g;
insert into sessions select 500 + g, 'dev-' || (7000 + (1 + (g * 5) % 11) * 13), timestamp '2026-01-04 06:15' + g * interval '2 days 5 hours 11 minutes', 12 + (g * 397) % 2900, (array['wifi', 'cellular', 'wifi', 'offline'])[1 + g % 4], (array['3.8.0', '3.9.1', '4.0.0'])[1 + g / 18], g % 9 = 4 from generate_series(1, 48) g;
insert into log_lines select g, 501 + g % 45, timestamp '2026-01-05 06:20' + g * interval '17 hours 3 minutes', (array['info', 'info', 'warn', 'info', 'error', 'debug'])[1 + g % 6], (array['login', 'checkout', 'search', 'upload', 'sync', 'logout', 'purchase'])[1 + g % 7], case when g % 8 <> 0 then 9 + (g * 211) % 3100 end, 60 + (g * 6151) % 70000, case when g % 6 = 4 then (array['E401', 'E500', 'E503'])[1 + g % 3] end from generate_series(1, 150) g;
