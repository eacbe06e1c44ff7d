create table boats (id int primary key, name text, kind text, builder text, hull text, built int, pier text,
  nights_booked int, about text);
insert into boats values
  (1, 'Petrel', 'ketch', 'Haugland', 'steel', 1988, 'Long Pier', 15, 'She sails to the skerries in any weather.'),
  (2, 'Sandpiper', 'sloop', 'Brandvik', 'wood', 1964, 'Old Pier', 18, 'Her cabin sleeps two who like each other.'),
  (3, 'Osprey', 'launch', 'Haugland', 'steel', 2019, 'Long Pier', 4, 'It carries the mail when the ferry does not run.'),
  (4, 'Teal', 'sloop', 'Merete', 'glass', 2021, 'Long Pier', 12, 'A quick boat for races on summer evenings.'),
  (5, 'Eider', 'ketch', 'Brandvik', 'wood', 1971, 'Old Pier', 12, 'She has a stove, and a bell from a lightship.');
create table repairs (id int primary key, boat_id int references boats, report text, shipwright text, price numeric,
  begun_on date, finished_on date);
insert into repairs values
  (1, 1, 'The rudder post had cracked and was welded.', 'Sigrun Aas', 420.5, '2031-02-03', '2031-02-20'),
  (2, 2, 'Two planks below the waterline were renewed.', 'Per Lunde', 1310, '2031-02-10', '2031-03-05'),
  (3, 3, 'Water in the fuel; the tank was drained.', 'Sigrun Aas', 95, '2031-03-01', '2031-03-01'),
  (4, 5, 'The mast step was rotten.', 'Per Lunde', 760, '2031-03-12', null),
  (5, 4, 'The anchor winch jammed.', 'Per Lunde', 130, '2031-03-14', '2031-03-15');
create table hands (id int primary key, name text, grade text, pier text, joined_on date);
insert into hands values (1, 'Ture Moe', 'B', 'Old Pier', '2024-05-01'), (2, 'Kaja Dahl', 'A', 'Long Pier', '2029-09-01'),
  (3, 'Nora Vik', 'B', 'Long Pier', '2019-03-15');
