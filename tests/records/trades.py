"""The products and orders of a shop, declared as collections."""

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
"""


def fill(url: str) -> None:
    """The tables, declared, their words in step."""
    owner(url, SCHEMA)
    apply_file(url, DECLARED)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work_off(url)).result()
