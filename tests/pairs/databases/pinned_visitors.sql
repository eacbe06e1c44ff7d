create table visitors (id int primary key, name text not null, age int, weight numeric, rating int, spent numeric,
  hall text, came_on date);
insert into visitors select i, 'Visitor ' || i, 10 + (i * 7) % 60, 40 + (i * 11) % 50, 1 + i % 5, (i * 13) % 90,
  (array['East','West','North'])[1 + i % 3], date '2025-01-01' + i * 9
from generate_series(1, 40) i;
