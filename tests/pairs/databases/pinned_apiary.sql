create table members (id int primary key, "firstName" text not null, "lastName" text not null, email text,
  "licenceUntil" date, "joinedOn" date not null);
insert into members select i, (array['Aino','Bela','Ceri','Dov'])[1 + i % 4], (array['Moor','Nagy','Onda'])[1 + i % 3],
  case when i % 5 > 0 then 'k' || i || '@hive.example' end,
  case when i % 6 > 0 then date '2026-03-18' + (i * 37) % 200 - 100 end, date '2030-01-01' + i * 9 from generate_series(1, 60) i;
create table clients (id int primary key, "fullName" text not null, county text);
insert into clients select i, (array['Orla','Pim','Rafe'])[1 + i % 3] || ' ' || (array['Hay','Ivy'])[1 + i % 2],
  (array['Kent','Fife'])[1 + i % 2] from generate_series(1, 6) i;
create table hives (id int primary key, "hiveName" text not null, "clientId" int not null references clients,
  strain text not null);
insert into hives select i, 'Hive ' || i, 1 + i % 6, (array['carnica','buckfast'])[1 + i % 2] from generate_series(1, 50) i;
create table inspections (id int primary key, "hiveId" int not null references hives, "memberId" int references members,
  "scheduledFor" timestamptz not null, state text not null, remark text);
insert into inspections select i, 1 + i % 50, case when i % 9 > 0 then 1 + (i * i) % 7 end,
  timestamptz '2026-03-18 12:00+00' + ((i * 7) % 60 - 40) * interval '1 day', (array['scheduled','done','open'])[1 + i % 3],
  case when i % 4 = 0 then 'The queen was not seen and the frames are wet' end from generate_series(1, 150) i;
create table feeds (id int primary key, "feedName" text not null, "unitPriceCents" int not null);
insert into feeds select i, (array['Syrup','Fondant','Pollen cake'])[i], 150 * i from generate_series(1, 3) i;
create table "inspectionFeeds" ("inspectionId" int references inspections, "feedId" int references feeds, quantity int not null,
  primary key ("inspectionId", "feedId"));
insert into "inspectionFeeds" select i, 1, 1 from generate_series(1, 60) i;
insert into "inspectionFeeds" select i, 2, 1 + i % 5 from generate_series(1, 40) i;
create table fines (id int primary key, "memberId" int not null references members, reason text not null,
  "amountCents" int not null, "issuedOn" date not null, "paidOn" date);
insert into fines select i, 1 + (i * i) % 8, (array['smoke','noise'])[1 + i % 2], 500 + i * 25, date '2031-01-01' + i * 3,
  case when i % 3 > 0 then date '2031-01-20' + i * 3 end from generate_series(1, 80) i;
create table animals (id int primary key, "animalName" text not null, kind text not null, habits text);
insert into animals select i, 'Beast ' || i, (array['calf','goat','mule'])[1 + i % 3],
  case when i % 20 > 0 then 'Walks round at noon' end
from generate_series(1, 40) i;
create table loans (id int primary key, "animalId" int not null references animals, "memberId" int not null references members,
  "lentOn" date not null, prolongations int not null, "distanceKm" numeric not null);
insert into loans select i, 1 + (i * i) % 31, 1 + i % 30, date '2031-01-01' + i * 5, i % 4, 2 + i % 9
from generate_series(1, 90) i;
create table invoices (id int primary key, "invoiceNo" text not null, "clientId" int not null references clients,
  "issuedOn" date not null);
insert into invoices select i, 'B-' || 500 + i, 1 + i % 6, date '2031-01-01' + i * 9 from generate_series(1, 70) i;
create table "invoiceLines" (id int primary key, "invoiceId" int not null references invoices, label text not null,
  quantity int not null, "unitPriceCents" int not null);
insert into "invoiceLines" select i, 1 + i % 70, (array['wax','honey','queen'])[1 + i % 3], 1 + i % 4, 250 + i % 7 * 100
from generate_series(1, 200) i;
