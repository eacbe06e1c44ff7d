create table helpers (id int primary key, full_name text not null, job text);
insert into helpers values (1, 'Ona Tamm', 'printer'), (2, 'Rui Salgado', 'printer'), (3, 'Edda Kok', 'binder');
create table owners (id int primary key, full_name text not null);
insert into owners select i, (array['Ilse','Bram','Nuno','Tove'])[i] || ' Falk' from generate_series(1, 4) i;
create table guests (id int primary key, full_name text not null, country text, likes text);
insert into guests select i,
  (array['Ada','Milo','Saga','Lars'])[1 + i % 4] || ' ' || (array['Oriel','Venn','Lund'])[1 + i % 3],
  (array['Wales','Norway'])[1 + i % 2], case when i % 4 = 0 then 'Wants a lamp beside the bed and no feathers in the pillows' end
from generate_series(1, 12) i;
create table cabins (id int primary key, label text not null, owner_id int references owners,
  price_per_night numeric);
insert into cabins select i, 'Cabin ' || chr(64 + i), 1 + i % 4, 20 + 5 * i from generate_series(1, 6) i;
create table stays (id int primary key, guest_id int not null references guests, cabin_id int references cabins,
  checked_in_by int references helpers, booked_at timestamptz not null, arrives_on date not null, leaves_on date not null,
  status text not null);
insert into stays select i, 1 + (i * i) % 11, 1 + (i * i) % 5, 1 + (i * 5) % 7 % 3,
  timestamptz '2031-01-02 09:00+00' + i * interval '4 days',
  date '2031-02-01' + i * 5, date '2031-02-01' + i * 5 + 1 + (i * 3) % 11, (array['checked out','checked in','booked'])[1 + i % 3]
from generate_series(1, 70) i;
create table treats (id int primary key, name text not null, unit_price_cents int not null);
insert into treats select i, (array['Warm bath','Row boat','Late tea','Harp hour'])[i], 450 * i
from generate_series(1, 4) i;
create table stay_treats (stay_id int references stays, treat_id int references treats, qty int not null,
  primary key (stay_id, treat_id));
insert into stay_treats select i, 1 + least(i % 6, 2), 1 + i % 2 from generate_series(1, 50) i;
create table invoices (id int primary key, number text not null, stay_id int not null references stays,
  issued_on date not null, due_on date not null, paid_at timestamptz, amount numeric not null);
insert into invoices select i, 'N-' || 300 + i, i, date '2031-02-05' + i * 5, date '2031-02-19' + i * 5,
  case when i % 5 <> 0 then timestamptz '2031-02-10 10:00+00' + i * interval '5 days' end, 40 + (i * 17) % 90
from generate_series(1, 60) i;
create table papers (id int primary key, paper_name text not null, list_price numeric not null, stock_qty int not null,
  reorder_level int not null, rag_pct int not null, about text);
insert into papers select i, 'Sheet ' || chr(64 + i), 2 + i, (i * 7) % 5 * 10, 15, 10 * i,
  'It takes ink well and dries under a weight'
from generate_series(1, 9) i;
create table clients (id int primary key, company text not null, country text);
insert into clients select i, (array['Quill House','The Inkwell','Old Type','Folio Room'])[i],
  (array['Wales','Norway'])[1 + i % 2]
from generate_series(1, 4) i;
create table orders (id int primary key, order_no text not null unique, client_id int not null references clients,
  ordered_at timestamptz not null, deliver_by date, dispatched_at timestamptz, status text not null, comments text,
  postage numeric not null);
insert into orders select i, 'PO-' || 800 + i, 1 + (i * i) % 3, timestamptz '2031-01-03 09:00+00' + i * interval '3 days',
  date '2031-01-20' + i * 3,
  case when i % 4 <> 0 then timestamptz '2031-01-03 09:00+00' + (i * 3 + 1 + i % 6) * interval '1 day' end,
  case when i % 4 = 0 then 'new' when i % 3 = 0 then 'dispatched' else 'delivered' end,
  case when i % 9 = 0 then 'The gate sticks, so ring twice' end, 2 + i % 7
from generate_series(1, 60) i;
create table order_lines (id int primary key, order_id int not null references orders,
  paper_id int not null references papers, qty int not null, unit_price_cents int not null, discount_pct int not null);
insert into order_lines select i, 1 + (i * 7) % 60, 1 + (i * i) % 8, 1 + (i * 3) % 12, 300 + (i * 11) % 200,
  (array[0,5,20])[1 + i % 3]
from generate_series(1, 150) i;
create table payments (id int primary key, order_id int not null references orders, received_on date not null,
  method text not null, amount numeric not null);
insert into payments select i, i, date '2031-02-01' + i * 3, (array['card','cheque','transfer'])[1 + i % 3],
  20 + (i * 13) % 70
from generate_series(1, 40) i;
create table opinions (id int primary key, paper_id int not null references papers, rating int not null,
  body text not null,
  given_on date not null);
insert into opinions select i, 1 + (i * i) % 7, 1 + (i * i * i + i) % 5, (array['The edges curl in damp rooms',
  'It folds without a crack',
  'Our folders were delighted'])[1 + i % 3], date '2031-01-10' + i * 4 from generate_series(1, 40) i;
create table rides (id int primary key, helper_id int not null references helpers, started_at timestamptz not null,
  distance_km numeric not null);
insert into rides select i, 1 + i % 3, timestamptz '2031-01-05 08:00+00' + i * interval '2 days', 3 + (i * 5) % 14
from generate_series(1, 45) i;
