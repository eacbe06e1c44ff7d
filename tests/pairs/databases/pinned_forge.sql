create table guilds (guild_code text primary key, guild_name text not null, hall text);
create table smiths (id int primary key, full_name text not null, guild_code text references guilds, rank text not null,
  date_of_birth date, joined_on date not null, daily_wage numeric not null);
create table commissions (id int primary key, title text not null, about text, kind text not null, state text not null,
  assignee_id int references smiths, customer_id int references smiths, price numeric not null, is_urgent boolean not null,
  begun_on date not null, finished_on date, paid_on date);
create table stints (id int primary key, commission_id int not null references commissions,
  worker_id int not null references smiths, worked_on date not null, hours numeric not null, is_billable boolean not null,
  note text);
insert into guilds values ('IRO', 'Iron', 'Low Hall'), ('BRA', 'Brass', 'High Hall'), ('TIN', 'Tin', null);
insert into smiths select i, (array['Ada Falk', 'Boris Holt', 'Cleo Krug', 'Dana Marsh', 'Emil Quill'])[i],
  (array['IRO', 'BRA', 'IRO', 'BRA', 'IRO'])[i], (array['rank and file', 'master', 'senior', 'senior', 'master'])[i],
  date '1980-05-01' - i * 400 % 1300, date '2012-01-01' + i * 700 % 1900, 100 + i * 37 % 60 from generate_series(1, 5) i;
insert into commissions select i, (array['Gate', 'Hinge', 'Lamp', 'Anchor', 'Grate'])[1 + i % 5] || ' ' || i,
  (array['For a garden wall.', 'It has to carry a lot.', null])[1 + i % 3], (array['feature', 'repair', 'casting'])[1 + i % 3],
  (array['open', 'on_hold', 'done', 'done'])[1 + i % 4], case when i % 6 <> 0 then 1 + i % 4 end, 5, 50 + i * 17 % 90,
  i % 5 = 0, date '2025-01-05' + i * 6, case when i % 4 > 1 then date '2025-01-05' + i * 6 + 3 + i * 5 % 11 end,
  case when i % 3 = 0 then date '2025-02-01' + i * 6 end from generate_series(1, 80) i;
insert into stints select i, 1 + i * i % 71, 1 + i * 7 % 4, date '2025-01-06' + i * 2, 1 + i % 4 * 0.5, i % 4 <> 0,
  (array['At the anvil', 'Filing', null])[1 + i % 3] from generate_series(1, 240) i;
