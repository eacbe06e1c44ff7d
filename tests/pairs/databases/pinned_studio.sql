create table sittings (id int primary key, remark text, observer text, loom text, pattern text, minutes int, held_on date);
insert into sittings select i, (array['The warp was tied anew.', 'Two threads broke near the edge.', 'The shed stayed clear.'])
  [1 + i % 3], (array['Ona Tamm', 'Rui Salgado', 'Ona Tamm', 'Edda Kok'])[1 + i % 4],
  (array['Draw Loom', 'Table Loom'])[1 + (i % 3 = 0)::int], (array['Herringbone', 'Twill'])[1 + i % 2], 10 + (i * 7) % 90,
  date '2031-01-05' + i * 9
from generate_series(1, 40) i;
create table gear (id int primary key, name text, about text, kind text, price_per_day numeric, deposit numeric, parts int);
insert into gear values
  (1, 'Carding drum', 'It combs a whole fleece before noon, with a crank.', 'carder', 14, 90, 12),
  (2, 'Spinning wheel', 'It runs quietly and folds into a bag.', 'wheel', 9, 60, 25),
  (3, 'Castle wheel', 'It takes little room and spins upright yarn.', 'wheel', 11.5, 75, 31),
  (4, 'Warping mill', 'It winds long warps without a helper.', 'mill', 22, 150, 8),
  (5, 'Niddy noddy', 'Skeins are wound on it by hand, one after the other.', 'winder', 2, 10, 3);
