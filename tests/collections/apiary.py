"""Tables of members of bees, in camel case: what is valid until a day, what is scheduled, what is used up, fines, and whom it
was done by; and questions that people put to them, each with what SQL says.
"""

from __future__ import annotations

from collections.abc import Mapping

SCHEMA = """
create schema apiary;
set search_path = apiary;
create table members (id int primary key, "firstName" text not null, "lastName" text not null, email text,
  "licenceUntil" date, "joinedOn" date not null);
insert into members select i, (array['Aino','Bela','Ceri','Dov'])[1 + i % 4], (array['Moor','Nagy','Onda'])[1 + i % 3],
  case when i % 5 > 0 then 'k' || i || '@hive.example' end,
  case when i % 6 > 0 then current_date + (i * 37) % 200 - 100 end, date '2030-01-01' + i * 9 from generate_series(1, 60) i;
create table clients (id int primary key, "fullName" text not null, county text);
insert into clients select i, (array['Orla','Pim','Rafe'])[1 + i % 3] || ' ' || (array['Hay','Ivy'])[1 + i % 2],
  (array['Kent','Fife'])[1 + i % 2] from generate_series(1, 6) i;
create table hives (id int primary key, "hiveName" text not null, "clientId" int not null references clients,
  strain text not null);
insert into hives select i, 'Hive ' || i, 1 + i % 6, (array['carnica','buckfast'])[1 + i % 2] from generate_series(1, 50) i;
create table inspections (id int primary key, "hiveId" int not null references hives, "memberId" int references members,
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
analyze;
"""

_NAME = 'k."firstName" || \' \' || k."lastName"'
_BY_KEEPER = 'join members k on k.id = "memberId" group by k.id order by 2 desc limit 1'

_LENT = 'join members k on k.id = "memberId" group by 1 order by 2 desc fetch first 1 rows with ties'
_BEASTS = 'join animals a on a.id = "animalId" group by 1 order by 2 desc fetch first 1 rows with ties'
_FEEDS = 'from "inspectionFeeds" join feeds f on f.id = "feedId"'
_AMOUNT = 'sum("amountCents") / 100.0'
_OPEN = 'join members k on k.id = "memberId" where "paidOn" is null group by k.id order by 2 desc limit 1'
_SUM = 'sum(quantity * "unitPriceCents") / 100.0'
_LINES = 'from "invoiceLines" l join invoices i on i.id = "invoiceId" where true'
_BELA = """join members k on k.id = "memberId" where k."firstName" || ' ' || k."lastName" = 'Bela Nagy'
  and extract(year from "lentOn") = 2031"""

NUMBERS: Mapping[str, str] = {
    # what holds until a day
    "How many members have an expired licence?": 'select count(*) from members where "licenceUntil" < current_date',
    "How many members are out of licence?": 'select count(*) from members where "licenceUntil" < current_date',
    "How many members are under licence?": 'select count(*) from members where "licenceUntil" >= current_date',
    # a verb of a date that is a status too
    "How many inspections are scheduled for today?":
        'select count(*) from inspections where "scheduledFor"::date = current_date',
    "How many inspections are scheduled?": "select count(*) from inspections where state = 'scheduled'",
    "How many inspections today?": 'select count(*) from inspections where "scheduledFor"::date = current_date',
    # of several people the nearest did it
    "Who made the most inspections?": f"select {_NAME}, count(*) from inspections {_BY_KEEPER}",
    # a number that says how often something was done
    "How many loans were never prolonged?": "select count(*) from loans where prolongations = 0",
    "How many loans were prolonged?": "select count(*) from loans where prolongations > 0",
    "How many loans were prolonged 3 times?": "select count(*) from loans where prolongations = 3",
    # what was done on a date of rows that lead to what is named
    "Who has borrowed the most animals?": f"select {_NAME}, count(*) from loans {_LENT}",
    "Who borrowed the most animals in 2031?":
        f"""select {_NAME}, count(*) from loans {_LENT.replace('group', 'where extract(year from "lentOn") = 2031 group')}""",
    "Which animal was borrowed most?": f'select "animalName", count(*) from loans {_BEASTS}',
    # texts that rows lack
    "How many members have no email address?": "select count(*) from members where email is null",
    "How many inspections are without a remark?": "select count(*) from inspections where remark is null",
    # so many at a time
    "Which feed was used most?":
        f'select "feedName", sum(quantity) {_FEEDS} group by 1 order by 2 desc limit 1',
    # rows that are amounts themselves
    "total unpaid fines": f'select {_AMOUNT} from fines where "paidOn" is null',
    "What is the highest fine?": 'select reason, max("amountCents") / 100.0 from fines group by 1 order by 2 desc limit 1',
    "Who owes us the most in fines?": f'select {_NAME}, {_AMOUNT} from fines {_OPEN}',
    # a reference by what it leads to, an irregular plural, a verb that is another word for what rows are called
    "inspections by hive strain": 'select strain, count(*) from inspections join hives h on h.id = "hiveId" group by 1',
    "How many calves are there?": "select count(*) from animals where kind = 'calf'",
    "How many animals have never been lent?": 'select count(*) from animals a where a.id not in (select "animalId" from loans)',
    "How many members have never borrowed anything?":
        'select count(*) from members k where k.id not in (select "memberId" from loans)',
    # a verb behind who did it; what was billed, and two years of it
    "How many km did Bela Nagy carry in 2031?": f'select sum("distanceKm") from loans {_BELA}',
    "What did we invoice in 2031?": f'select {_SUM} {_LINES} and extract(year from "issuedOn") = 2031',
    "How much did we invoice?": f'select {_SUM} {_LINES}',
    "revenue in 2031 versus 2032":
        f"""select date_trunc('year', "issuedOn")::date, {_SUM} {_LINES} group by 1""",
}  # fmt: skip
