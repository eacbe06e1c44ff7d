create table meldungen (id int primary key, betreff text not null, inhalt text, stand text not null, kosten numeric, am date);
insert into meldungen values
  (1, 'Die Heizung bleibt kalt', 'Seit dem Umbau sind alle Häuser am Hafen ohne Wärme.', 'offen', 1250.5, '2024-03-03'),
  (2, 'Wasser im Keller', 'Der Ablauf ist verstopft, die Kellertreppe steht unter Wasser.', 'erledigt', 80, '2024-03-12'),
  (3, 'Schlüssel verloren', 'Frau Müller braucht einen neuen Schlüssel für die Haustür.', 'offen', 45, '2024-05-20'),
  (4, 'Aufzug steht', 'Der Aufzug hält zwischen zwei Stockwerken.', 'offen', 3000, '2023-11-02'),
  (5, 'Wartung im Herbst', 'Heizung und Aufzug werden geprüft.', 'erledigt', 500, '2023-10-05'),
  (6, 'Garten am Hof', 'Der Garten ist verwildert.', 'erledigt', 10, '2022-01-05'),
  (7, 'Zaun am Garten', 'Der Garten ist offen.', 'erledigt', 10, '2022-01-06');
create table contrats (id int primary key, objet text not null, clause text, etat text not null, montant numeric, du date);
insert into contrats values
  (1, 'Bail de l''entrepôt', 'Le bail est résilié par lettre recommandée.', 'résilié', 5400, '2024-03-03'),
  (2, 'Entretien des chaudières', 'Le prestataire vérifie les chaudières chaque été.', 'signé', 1200, '2024-04-01'),
  (3, 'Assurance des véhicules', 'Les véhicules de la société sont assurés.', 'signé', 950, '2023-12-15');
create table calls (id int primary key, subject text not null, topic text, state text not null);
insert into calls values (1, 'The toner leaks', 'Leaks', 'open'), (2, 'No toner left', 'Supplies', 'open'),
  (3, 'Out of toner again', 'Supplies', 'closed'), (4, 'The lid is broken', 'Damage', 'open');
create table repairs (id text primary key, heading text, told text, yard text, state text, done_on date);
insert into repairs values ('r2', 'Rudder came loose', 'The pintle had sheared off.', 'Otter Imaging', 'closed', '2031-02-09'),
  ('r3', 'Mast leans', 'The forestay is slack.', 'Pelican Theatre', 'open', '2031-03-01'),
  ('r4', 'Cabin gets warm', 'With the hatch shut it reached 41 degrees at noon.', 'Otter Imaging', 'open', '2031-06-20'),
  ('r5', 'Six pumps checked', 'All six pumps were taken apart.', 'Pelican Theatre', 'closed', '2031-07-02'),
  ('r6', 'Pole replaced', 'A deckhand had broken the whisker pole.', 'Otter Imaging', 'closed', '2031-07-09');
