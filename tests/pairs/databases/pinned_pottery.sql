create table potters (id int primary key, full_name text not null, country text, joined_on date);
insert into potters select i, (array['Ilse','Bram','Nuno','Tove','Mirek','Saga'])[1 + i % 6] || ' ' ||
  (array['Falk','Oriel','Venn','Lund'])[1 + i % 4], (array['Estonia','Portugal','Wales'])[1 + i % 3], date '2021-01-05' + i * 31
from generate_series(1, 24) i;
create table kilns (id int primary key, name text not null, yard text, visitors_admitted boolean, about text);
insert into kilns select i, 'Kiln ' || chr(64 + i), (array['Quay','Orchard'])[1 + i % 2], i % 3 <> 0,
  'It stands under a tin roof and is swept before each use' from generate_series(1, 8) i;
create table firings (id int primary key, code text not null unique, potter_id int not null references potters,
  kiln_id int not null references kilns, kind text not null, status text not null, fired_at timestamptz not null,
  arrival_date date not null, collection_date date not null, bowls int not null, fee_paid boolean not null,
  total_price numeric not null, remark text);
insert into firings select i, 'FK-' || 40000 + i, 1 + (i * 7) % 20, 1 + (i * i) % 8,
  (array['bisque','raku','salt glaze'])[1 + (i / 2) % 3], (array['done','done','planned','cancelled'])[1 + i % 4],
  timestamptz '2024-12-20 10:00+00' + i * interval '3 days', date '2025-01-03' + i * 3, date '2025-01-09' + i * 3, (i * 5) % 9,
  i % 5 <> 0, 30 + (i * 13) % 70, 'The shelves were washed and the cones set upright'
from generate_series(1, 120) i;
create table glazes (id int primary key, name text not null, unit_price numeric not null, stock_qty int not null);
insert into glazes select i, 'Glaze ' || chr(64 + i), 2.5 + (i * 7) % 11, (i * 3) % 10 from generate_series(1, 10) i;
create table firing_glazes (id int primary key, firing_id int not null references firings,
  glaze_id int not null references glazes, portions int not null);
insert into firing_glazes select i, 1 + (i * 3) % 120, 1 + (i * i) % 10, 1 + i % 4 from generate_series(1, 150) i;
create table bills (id int primary key, number text not null, firing_id int not null references firings,
  issued_on date not null, due_on date not null, paid_on date, net_amount numeric not null);
insert into bills select i, 'B-' || 700 + i, i, date '2025-02-01' + i * 4, date '2025-02-15' + i * 4,
  case when i % 3 <> 0 then date '2025-02-10' + i * 6 end, 35 + (i * 17) % 90
from generate_series(1, 90) i;
create table errands (id int primary key, note text, started_at timestamptz not null, finished_at timestamptz);
insert into errands select i, 'Clay was fetched from the pit and wrapped in wet cloth',
  timestamptz '2025-01-03 08:00+00' + i * interval '3 days',
  timestamptz '2025-01-03 08:00+00' + i * interval '3 days' + (60 + (i * 30) % 240) * interval '1 minute'
from generate_series(1, 40) i;
