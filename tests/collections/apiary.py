"""Tables of keepers of bees, in camel case: what is valid until a day, what is scheduled, what is used up, fines, and whom it
was done by; and questions that people put to them, each with what SQL says.
"""

from __future__ import annotations

from collections.abc import Mapping

SCHEMA = """
create schema apiary;
set search_path = apiary;
create table keepers (id int primary key, "firstName" text not null, "lastName" text not null, email text,
  "licenceUntil" date, "joinedOn" date not null);
insert into keepers select i, (array['Aino','Bela','Ceri','Dov'])[1 + i % 4], (array['Moor','Nagy','Onda'])[1 + i % 3],
  case when i % 5 > 0 then 'k' || i || '@hive.example' end,
  case when i % 6 > 0 then current_date + (i * 37) % 200 - 100 end, date '2030-01-01' + i * 9 from generate_series(1, 60) i;
create table growers (id int primary key, "fullName" text not null, county text);
insert into growers select i, (array['Orla','Pim','Rafe'])[1 + i % 3] || ' ' || (array['Hay','Ivy'])[1 + i % 2],
  (array['Kent','Fife'])[1 + i % 2] from generate_series(1, 6) i;
create table hives (id int primary key, "hiveName" text not null, "growerId" int not null references growers,
  strain text not null);
insert into hives select i, 'Hive ' || i, 1 + i % 6, (array['carnica','buckfast'])[1 + i % 2] from generate_series(1, 50) i;
create table inspections (id int primary key, "hiveId" int not null references hives, "keeperId" int references keepers,
  "scheduledFor" timestamptz not null, state text not null, remark text);
insert into inspections select i, 1 + i % 50, case when i % 9 > 0 then 1 + (i * i) % 7 end,
  now() + ((i * 7) % 60 - 40) * interval '1 day', (array['scheduled','done','open'])[1 + i % 3],
  case when i % 4 = 0 then 'The queen was not seen and the frames are wet' end from generate_series(1, 150) i;
create table feeds (id int primary key, "feedName" text not null, "unitPriceCents" int not null);
insert into feeds select i, (array['Syrup','Fondant','Pollen cake'])[i], 150 * i from generate_series(1, 3) i;
create table "inspectionFeeds" ("inspectionId" int references inspections, "feedId" int references feeds, quantity int not null,
  primary key ("inspectionId", "feedId"));
insert into "inspectionFeeds" select i, 1, 1 from generate_series(1, 60) i;
insert into "inspectionFeeds" select i, 2, 1 + i % 5 from generate_series(1, 40) i;
create table fines (id int primary key, "keeperId" int not null references keepers, reason text not null,
  "amountCents" int not null, "issuedOn" date not null, "paidOn" date);
insert into fines select i, 1 + (i * i) % 8, (array['smoke','noise'])[1 + i % 2], 500 + i * 25, date '2031-01-01' + i * 3,
  case when i % 3 > 0 then date '2031-01-20' + i * 3 end from generate_series(1, 80) i;
analyze;
"""

_NAME = 'k."firstName" || \' \' || k."lastName"'
_BY_KEEPER = 'join keepers k on k.id = "keeperId" group by k.id order by 2 desc limit 1'

NUMBERS: Mapping[str, str] = {
    # what holds until a day
    "How many keepers have an expired licence?": 'select count(*) from keepers where "licenceUntil" < current_date',
    "How many keepers are out of licence?": 'select count(*) from keepers where "licenceUntil" < current_date',
    "How many keepers are under licence?": 'select count(*) from keepers where "licenceUntil" >= current_date',
    # a verb of a date that is a status too
    "How many inspections are scheduled for today?":
        'select count(*) from inspections where "scheduledFor"::date = current_date',
    "How many inspections are scheduled?": "select count(*) from inspections where state = 'scheduled'",
    "How many inspections today?": 'select count(*) from inspections where "scheduledFor"::date = current_date',
    # of several people the nearest did it
    "Who made the most inspections?": f"select {_NAME}, count(*) from inspections {_BY_KEEPER}",
    # so many at a time
    "Which feed was used most?":
        'select "feedName", sum(quantity) from "inspectionFeeds" join feeds f on f.id = "feedId" group by 1 order by 2 desc limit 1',
}  # fmt: skip

NO_NUMBER = ()
