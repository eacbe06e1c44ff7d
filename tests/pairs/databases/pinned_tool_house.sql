create table staff (pers_no int primary key, given_name text not null, family_name text not null, job text not null,
  dob date, hired_on date not null);
create table tools (tool_id int primary key, tool_nm text not null, tool_kind text not null,
  price_cents int not null, min_qty int not null, shelf_cnt int not null,
  curator_ref int references staff, buyer_ref int not null references staff);
create table films (film_id int primary key, title text not null, topic text not null, runtime_min int not null,
  tool_ref int not null references tools, curator_ref int references staff);
create table loans (loan_no int primary key, tool_ref int not null references tools, channel text not null,
  fee_cents int not null, booked_at timestamptz not null, return_by date not null, returned_on date, note text);
create table fines (fine_no int primary key, tool_ref int not null references tools, about text not null,
  amount_cents int not null, due_on date not null, settled_on date);
create table bookings (bkg_no int primary key, tool_ref int not null references tools, channel text not null,
  booked_at timestamptz not null);
insert into staff select i, (array['Ada', 'Boris', 'Cleo', 'Dana'])[1 + i % 4], (array['Falk', 'Holt', 'Krug'])[1 + i % 3],
  (array['curator', 'buyer', 'clerk'])[1 + i % 3], date '1970-02-01' + i * 397, date '2015-01-01' + i * 100
  from generate_series(1, 60) i;
insert into tools select i, (array['Saw', 'Plane', 'Lathe', 'Drill'])[1 + i % 4] || ' ' || i, (array['wood', 'metal'])[1 + i % 2],
  i * 1250, 5 + i % 3, 1 + i % 7, case when i % 5 > 0 then 2 + i % 4 * 3 end, 1 + i % 3 * 3 from generate_series(1, 60) i;
insert into films select i, 'How to ' || i, (array['wood', 'metal', 'safety'])[1 + i % 3], 20 + i * 13 % 150, 1 + i % 20,
  case when i % 4 > 0 then 2 + i % 3 * 3 end from generate_series(1, 60) i;
insert into loans select i, 1 + i * 7 % 40, (array['desk', 'phone', 'web'])[1 + i % 3], 100 + i % 9 * 50,
  timestamptz '2024-11-01 10:00+00' + i * interval '2 days', date '2024-11-08' + i * 2 + i % 3 * 4000,
  case when i % 4 > 0 then date '2024-11-05' + i * 2 end, (array['Blunt', 'As new', null])[1 + i % 3]
  from generate_series(1, 240) i;
insert into fines select i, 1 + i * 3 % 40, 'Tool lost in week ' || i, 500 + i % 4 * 250, date '2024-06-03' + i * 11,
  case when i % 3 > 0 then date '2024-06-01' + i * 12 end from generate_series(1, 120) i;
insert into bookings select i, 1 + i % 30, (array['desk', 'phone', 'web'])[1 + i % 3],
  timestamptz '2024-11-01 10:00+00' + i * interval '2 days' from generate_series(1, 200) i;
