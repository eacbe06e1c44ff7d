create table growers (id int primary key, full_name text not null, craft text, hired_on date);
insert into growers values (1, 'Ona Tamm', 'grafting', '2009-04-01'), (2, 'Rui Salgado', 'grafting', '2015-08-01'),
  (3, 'Edda Kok', 'propagation', '2019-02-01'), (4, 'Milo Brandt', 'pruning', '2021-09-01');
create table plants (id int primary key, name text not null, plant_family text, crate text, height_cm numeric,
  mass_t numeric, price numeric, stars numeric, planted int, needs_permit boolean, about text);
insert into plants select i, 'Specimen ' || chr(64 + i), (array['Rosales', 'Fagales', 'Pinales'])[1 + i % 3],
  'crate ' || (1 + i % 7), 20 + (i * 37) % 230, 0.1 * ((i * 7) % 23), 15 + (i * 11) % 60, 2 + (i * 13) % 30 / 10.0,
  1931 + (i * 29) % 90, i % 4 = 0, 'It stands in a clay pot behind the long glasshouse, out of the wind'
from generate_series(1, 20) i;
create table waterings (id int primary key, plant_id int references plants,
  grower_id int references growers, scheduled_for date, litres numeric, prep_minutes int, remark text);
insert into waterings select i, 1 + (i * i) % 20, 1 + i % 4, date '2023-01-10' + i * 11, (i * 3) % 17,
  4 + (i * 7) % 61, 'The hose was led around the potting shed and the tap left dripping'
from generate_series(1, 90) i;
