"""A pottery that rents its kilns, with few rows, a table that joins two others, and columns that are called as they often are."""

from __future__ import annotations

from collections.abc import Mapping

SCHEMA = """
create schema pottery;
create table pottery.potters (id int primary key, full_name text not null, country text, joined_on date);
insert into pottery.potters select i, (array['Ilse','Bram','Nuno','Tove','Mirek','Saga'])[1 + i % 6] || ' ' ||
  (array['Falk','Oriel','Venn','Lund'])[1 + i % 4], (array['Estonia','Portugal','Wales'])[1 + i % 3], date '2021-01-05' + i * 31
from generate_series(1, 24) i;
create table pottery.kilns (id int primary key, name text not null, yard text, visitors_admitted boolean, about text);
insert into pottery.kilns select i, 'Kiln ' || chr(64 + i), (array['Quay','Orchard'])[1 + i % 2], i % 3 <> 0,
  'It stands under a tin roof and is swept before each use' from generate_series(1, 8) i;
create table pottery.firings (id int primary key, code text not null unique, potter_id int not null references pottery.potters,
  kiln_id int not null references pottery.kilns, kind text not null, status text not null, fired_at timestamptz not null,
  arrival_date date not null, collection_date date not null, bowls int not null, fee_paid boolean not null,
  total_price numeric not null, remark text);
insert into pottery.firings select i, 'FK-' || 40000 + i, 1 + (i * 7) % 20, 1 + (i * i) % 8,
  (array['bisque','raku','salt glaze'])[1 + (i / 2) % 3], (array['done','done','planned','cancelled'])[1 + i % 4],
  timestamptz '2024-12-20 10:00+00' + i * interval '3 days', date '2025-01-03' + i * 3, date '2025-01-09' + i * 3, (i * 5) % 9,
  i % 5 <> 0, 30 + (i * 13) % 70, 'The shelves were washed and the cones set upright'
from generate_series(1, 120) i;
create table pottery.glazes (id int primary key, name text not null, unit_price numeric not null, stock_qty int not null);
insert into pottery.glazes select i, 'Glaze ' || chr(64 + i), 2.5 + (i * 7) % 11, (i * 3) % 10 from generate_series(1, 10) i;
create table pottery.firing_glazes (id int primary key, firing_id int not null references pottery.firings,
  glaze_id int not null references pottery.glazes, portions int not null);
insert into pottery.firing_glazes select i, 1 + (i * 3) % 120, 1 + (i * i) % 10, 1 + i % 4 from generate_series(1, 150) i;
create table pottery.bills (id int primary key, number text not null, firing_id int not null references pottery.firings,
  issued_on date not null, due_on date not null, paid_on date, net_amount numeric not null);
insert into pottery.bills select i, 'B-' || 700 + i, i, date '2025-02-01' + i * 4, date '2025-02-15' + i * 4,
  case when i % 3 <> 0 then date '2025-02-10' + i * 6 end, 35 + (i * 17) % 90
from generate_series(1, 90) i;
create table pottery.errands (id int primary key, note text, started_at timestamptz not null, finished_at timestamptz);
insert into pottery.errands select i, 'Clay was fetched from the pit and wrapped in wet cloth',
  timestamptz '2025-01-03 08:00+00' + i * interval '3 days',
  timestamptz '2025-01-03 08:00+00' + i * interval '3 days' + (60 + (i * 30) % 240) * interval '1 minute'
from generate_series(1, 40) i;
analyze;
"""

NUMBERS: Mapping[str, str] = {
    # an everyday word that is a value, where it says what rows are like
    "How many firings are done?": "select count(*) from firings where status = 'done'",
    "How many done firings were there in 2025?":
        "select count(*) from firings where status = 'done' and arrival_date between '2025-01-01' and '2025-12-31'",
    # a price that is paid for all of a row is an amount
    "total price of raku firings": "select sum(total_price) from firings where kind = 'raku'",
    "What is the total price of firings by kind?": "select kind, sum(total_price) from firings group by 1",
    # what is issued dates a bill, not that it was paid
    "How many bills are overdue?": "select count(*) from bills where due_on < current_date and paid_on is null",
    "How many bills were there in May 2025?":
        "select count(*) from bills where issued_on between '2025-05-01' and '2025-05-31'",
    # of firing glazes and glazes, the latter are called so
    "How many glazes are there?": "select count(*) from glazes",
    "the cheapest glaze": "select name, unit_price from glazes order by unit_price limit 1",
    # a verb in another form than the date's name
    "How many firings were collected in March 2025?":
        "select count(*) from firings where collection_date between '2025-03-01' and '2025-03-31'",
    "How many firings arrive in March 2025?":
        "select count(*) from firings where arrival_date between '2025-03-01' and '2025-03-31'",
    # a yes or no as a verb and its object
    "How many firings haven't paid the fee?": "select count(*) from firings where not fee_paid",
    "How many kilns admit visitors?": "select count(*) from kilns where visitors_admitted",
    "How many kilns don't admit visitors?": "select count(*) from kilns where not visitors_admitted",
    # a number of things that a row has
    "How many firings with bowls were there in April 2025?":
        "select count(*) from firings where bowls > 0 and arrival_date between '2025-04-01' and '2025-04-30'",
    "How many firings have a price?": "select count(total_price) from firings",
    # what ends the time that is asked for
    "How long does it take to finish an errand on average?":
        "select avg(extract(epoch from finished_at - started_at) / 86400)::numeric(12, 6) from errands",
    # so many hours are the same number of minutes
    "How many errands took longer than 2 hours?":
        "select count(*) from errands where finished_at - started_at > interval '2 hours'",
    # a value that one table alone holds names its rows
    "How many salt glaze were there in 2025?":
        "select count(*) from firings where kind = 'salt glaze' and arrival_date between '2025-01-01' and '2025-12-31'",
}  # fmt: skip
"""Questions, with the number, or the one row with its number, that they ask for."""

NO_NUMBER = ("How many potters have never fired?", "Which potter owes us the most?", "How many glazes have a kiln?")
"""Questions that no row tells."""
