"""Tables of several trades in one database, declared as collections: a shop, a clinic, a library, a carrier and an office."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from tests.collections.support import apply_file, owner, work_off

SCHEMA = """
create schema trades;
create table trades.products (id int primary key, name text not null, about text, category text, brand text, price numeric,
  stock int, weight numeric, added_on date);
insert into trades.products select i, 'Product ' || chr(64 + i), 'A thing for daily use',
  (array['Garden','Kitchen','Office'])[1 + i % 3],
  (array['Alder','Birch'])[1 + i % 2], case when i <> 7 then 3.5 + (i * 37) % 50 end, (i * 13) % 40, 0.2 * i,
  date '2023-01-10' + i * 40
from generate_series(1, 24) i;
create table trades.orders (id int primary key, note text, customer text, country text, status text, total numeric, quantity int,
  order_date date, paid_on date);
insert into trades.orders select i, 'Please ring twice',
  (array['Ada Palmer','Boris Krug','Cleo Marsh','Dana Holt'])[1 + (i * i) % 4],
  (array['France','Spain','Norway'])[1 + i % 3], (array['paid','pending','cancelled','paid'])[1 + i % 4], 20 + (i * 29) % 83,
  1 + i % 7, date '2022-06-01' + i * 11, case when i % 4 in (0, 3) then date '2022-06-01' + i * 11 + 30 end
from generate_series(1, 70) i;
create table trades.visits (id int primary key, reason text, doctor text, ward text, fee numeric, duration int, visited_on date);
insert into trades.visits select i, 'A cough that stays', (array['Ines Falk','Otto Vance'])[1 + i % 2],
  (array['Surgery','Cardiology','Paediatrics'])[1 + (i / 2) % 3], 40 + (i * 7) % 60, 10 + (i * 11) % 35, date '2024-01-01' + i * 5
from generate_series(1, 50) i;
create table trades.loans (id int primary key, title text, branch text, member text, fine numeric,
  borrowed_on date, returned_on date);
insert into trades.loans select i, 'Volume ' || i, (array['Harbour','Old Town','Mill Lane'])[1 + i % 3],
  (array['Lina Moro','Tom Reed','Una Vale'])[1 + (i / 3) % 3], case when i % 5 = 0 then i end, date '2024-02-01' + i,
  case when i % 4 <> 0 then date '2024-02-01' + i * 2 end
from generate_series(1, 60) i;
create table trades.shipments (id int primary key, goods text, carrier text, destination text, state text, weight numeric,
  shipped_at timestamptz, delivered_at timestamptz);
insert into trades.shipments select i, 'Crates of apples', (array['Swift','Anchor'])[1 + (i / 3) % 2],
  (array['Porto','Ghent','Lyon'])[1 + i % 3], (array['delivered','lost','delivered'])[1 + i % 3], 5 + (i * 17) % 90,
  timestamptz '2024-03-01 09:00+00' + i * interval '2 days',
  case when i % 3 <> 1 then timestamptz '2024-03-04 09:00+00' + i * interval '2 days' end
from generate_series(1, 45) i;
create table trades.expenses (id int primary key, purpose text, kind text, amount numeric, spent_on date);
insert into trades.expenses select i, 'As agreed', (array['travel','rent','software'])[1 + i % 3], 100 + (i * 31) % 400,
  (date_trunc('year', current_date) - i * interval '17 days')::date
from generate_series(1, 40) i;
"""

DECLARED = """
[collections.products]
source = "trades.products"
title = "name"
text = { name = "A", about = "B" }
date = "added_on"
[collections.products.facets]
category = "value"
brand = "value"
price = { kind = "money", currency = "EUR" }
stock = "number"
weight = "number"

[collections.orders]
source = "trades.orders"
text = { note = "B" }
date = "order_date"
[collections.orders.facets]
customer = "name"
country = "place"
status = "value"
total = { kind = "money", currency = "EUR", words = ["revenue"] }
quantity = "number"
paid_on = "date"

[collections.visits]
source = "trades.visits"
title = "reason"
text = { reason = "A" }
date = "visited_on"
[collections.visits.facets]
doctor = "name"
ward = { kind = "value", words = ["department"] }
fee = { kind = "money", currency = "EUR" }
duration = "number"

[collections.loans]
source = "trades.loans"
title = "title"
text = { title = "A" }
date = "borrowed_on"
[collections.loans.facets]
branch = "value"
member = "name"
fine = { kind = "money", currency = "EUR" }
returned_on = "date"

[collections.shipments]
source = "trades.shipments"
text = { goods = "B" }
date = "shipped_at"
[collections.shipments.facets]
carrier = "value"
city = { kind = "place", column = "destination" }
state = { kind = "value", words = ["status"] }
load = { kind = "number", column = "weight", words = ["weight"] }
delivered_at = "date"

[collections.expenses]
source = "trades.expenses"
title = "purpose"
text = { purpose = "A" }
date = "spent_on"
[collections.expenses.facets]
category = { kind = "value", column = "kind" }
amount = { kind = "money", currency = "EUR" }
"""


def fill(url: str) -> None:
    """The tables, declared, their words in step."""
    owner(url, SCHEMA)
    apply_file(url, DECLARED)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work_off(url)).result()
