create table bills (id int primary key, about text not null, kind text not null, total_amount numeric not null,
  issued_on date not null, paid_on date);
insert into bills select i, 'Bill ' || i, (array['coal', 'iron'])[1 + i % 2], 10 + i, date '2025-01-05' + i,
  case when i % 3 > 0 then date '2025-03-01' + i end from generate_series(1, 60) i;
