"""`make bench`: filters on own tables, compared with the same search without a filter.

Orders refer to customers, these over branches and towns to regions; payments refer to orders. Each kind of facet is filtered
by, on the row itself, up to four references away and in related rows, negated, and two at once, at each door.

The machine's noise is in every figure: read the ratios, not the milliseconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

import httpx2
import psycopg
from psycopg.sql import SQL, Literal

from quarry.platform.settings import Settings
from quarry.services.services import build_services
from tests.collections.support import apply_file, owner, work_off
from tests.running import serving
from tools.benchmarks.measuring import REQUEST_SECONDS, migrated_server, record_model

TABLES = """
create schema shop;
create table shop.regions (id int primary key, name text not null, country text not null);
create table shop.towns (id int primary key, name text not null, region_id int not null references shop.regions);
create table shop.branches (id int primary key, name text not null, town_id int not null references shop.towns);
create table shop.customers (
  id int primary key, name text not null, segment text not null, country text not null, city text not null,
  branch_id int not null references shop.branches, since date not null
);
create table shop.orders (
  id int primary key, customer_id int not null references shop.customers, title text not null, note text not null,
  status text not null, carrier text not null, shipped_to text not null, total numeric not null, ordered_on date not null,
  is_urgent boolean not null, tags text[] not null, extra jsonb not null
);
create table shop.payments (
  id int primary key, order_id int not null references shop.orders, method text not null, bank text not null,
  country text not null, paid numeric not null, paid_on date not null, memo text not null
);
create index on shop.orders (customer_id);
create index on shop.payments (order_id)
"""

ROWS = """
with lists as materialized (select
  array['Spain', 'France', 'Germany', 'United Kingdom', 'Italy', 'Norway', 'Japan', 'India', 'Brazil', 'Canada'] as countries,
  array['Madrid', 'Paris', 'Berlin', 'London', 'Rome', 'Oslo', 'Tokyo', 'Mumbai', 'São Paulo', 'Toronto'] as cities,
  array['gate', 'valve', 'pump', 'hinge', 'bracket', 'motor', 'filter', 'cable', 'sensor', 'panel', 'bolt'] as things
), regions as (
  insert into shop.regions select i, 'Region ' || i, l.countries[1 + i % 10] from lists l, generate_series(1, 20) i
), towns as (
  insert into shop.towns select i, 'Town ' || i, 1 + i % 20 from generate_series(1, 100) i
), branches as (
  insert into shop.branches select i, 'Branch ' || i, 1 + i % 100 from generate_series(1, 200) i
), customers as (
  insert into shop.customers
  select i, 'Customer ' || i, (array['retail', 'trade', 'public'])[1 + i % 3], l.countries[1 + i * 7 % 10],
    l.cities[1 + i * 7 % 10], 1 + i % 200, date '2015-01-01' + i % 3000
  from lists l, generate_series(1, {rows} / 2) i
), orders as (
  insert into shop.orders
  select i, 1 + i * 13 % ({rows} / 2), initcap(l.things[1 + i % 11]) || ' order ' || i,
    'Please send the ' || l.things[1 + i % 11] || ' with a ' || l.things[1 + i * 3 % 11] || ' and the '
      || l.things[1 + i / 11 % 11] || ' of lot ' || i % 997 || ', marked ' || substr(md5(i::text), 1, 6),
    (array['open', 'paid', 'sent', 'cancelled'])[1 + i % 4], 'Carrier ' || i % 40,
    l.cities[1 + i * 3 % 10] || ', ' || l.countries[1 + i * 3 % 10], i % 5000 + 0.5, date '2020-01-01' + i % 2000, i % 7 = 0,
    array['tag ' || i % 9, 'tag ' || i % 13],
    jsonb_build_object('channel', (array['web', 'shop', 'phone'])[1 + i % 3], 'weight', i % 90)
  from lists l, generate_series(1, {rows}) i
)
insert into shop.payments
select i, 1 + i * 17 % {rows}, (array['card', 'cash', 'transfer'])[1 + i % 3], 'Bank ' || i % 30,
  l.countries[1 + i * 7 % 10], i % 300 + 1, date '2020-01-01' + i % 2000, 'Paid lot ' || i % 997
from lists l, generate_series(1, {rows}) i
"""

TOWN = '{ by = "branch_id", of = "shop.branches", title = { by = "town_id", of = "shop.towns", title = %s } }'
REGION = '{ by = "region_id", of = "shop.regions", title = "%s" }'
DECLARED = f"""
[collections.orders]
source = "shop.orders"
title = "title"
text = ["note"]
embed = []
date = "ordered_on"
related.payments = {{ of = "shop.payments", by = "order_id" }}

[collections.orders.facets]
status = "value"
carrier = "name"
shipped_to = "place"
total = "money"
is_urgent = "boolean"
tags = "array"
channel = {{ kind = "value", column = "extra.channel" }}
weight = {{ kind = "number", column = "extra.weight" }}
customer = {{ kind = "name", by = "customer_id", of = "shop.customers", title = "name" }}
segment = {{ kind = "value", by = "customer_id", of = "shop.customers", title = "segment" }}
country = {{ kind = "place", by = "customer_id", of = "shop.customers", title = "country" }}
since = {{ kind = "date", by = "customer_id", of = "shop.customers", title = "since" }}
town = {{ kind = "value", by = "customer_id", of = "shop.customers", title = {TOWN % '"name"'} }}
region = {{ kind = "value", by = "customer_id", of = "shop.customers", title = {TOWN % (REGION % "name")} }}
region_country = {{ kind = "place", by = "customer_id", of = "shop.customers", title = {TOWN % (REGION % "country")} }}
method = {{ kind = "value", related = "payments" }}
bank = {{ kind = "name", related = "payments" }}
paid = {{ kind = "number", related = "payments" }}
paid_in = {{ kind = "place", column = "country", related = "payments" }}

[collections.customers]
source = "shop.customers"
title = "name"
text = ["name"]
embed = []

[collections.customers.facets]
segment = "value"
country = "place"

[collections.payments]
source = "shop.payments"
text = ["memo"]
embed = []
date = "paid_on"

[collections.payments.facets]
method = "value"
order = {{ kind = "name", by = "order_id", of = "shop.orders", title = "title" }}
"""

FILTERS: Mapping[str, Mapping[str, str]] = {
    "value": {"status": "open"},
    "name": {"carrier": "Carrier 7"},
    "place": {"shipped_to": "Spain"},
    "place, a continent": {"shipped_to": "Europe"},
    "number": {"total": "100..900"},
    "date": {"from": "2022-01-01", "to": "2023-12-31"},
    "boolean": {"is_urgent": "true"},
    "list": {"tags": "tag 3"},
    "JSON key, value": {"channel": "web"},
    "JSON key, number": {"weight": "10..40"},
    "name, 1 reference": {"customer": "Customer 77"},
    "value, 1 reference": {"segment": "trade"},
    "place, 1 reference": {"country": "Spain"},
    "continent, 1 reference": {"country": "Europe"},
    "date, 1 reference": {"since": "2018-01-01.."},
    "value, 3 references": {"town": "Town 4"},
    "value, 4 references": {"region": "Region 4"},
    "place, 4 references": {"region_country": "Spain"},
    "value, related": {"method": "cash"},
    "name, related": {"bank": "Bank 4"},
    "number, related": {"paid": "..20"},
    "place, related": {"paid_in": "Spain"},
    "not a value": {"-status": "open"},
    "not a place": {"-shipped_to": "Spain"},
    "not a list": {"-tags": "tag 3"},
    "not a place, 1 reference": {"-country": "Spain"},
    "not a place, 4 references": {"-region_country": "Spain"},
    "not a value, related": {"-method": "cash"},
    "not a place, related": {"-paid_in": "Spain"},
    "two places": {"shipped_to": "Spain", "country": "Spain"},
    "two, 1 and 4 references": {"segment": "trade", "region_country": "Spain"},
    "two, related": {"method": "cash", "paid_in": "Spain"},
    "two, one negated": {"country": "Spain", "-paid_in": "Spain"},
}
"""Filters as parameters of `GET /records/search`."""

Ask = Callable[[httpx2.Client, Mapping[str, str]], None]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.benchmarks own", description="Filters on own tables.")
    parser.add_argument("--rows", type=int, nargs="*", default=[4_000, 20_000], help="orders, for each size")
    parser.add_argument("--turns", type=int, default=3, help="requests of each kind; the median is reported")
    parser.add_argument("--doors", nargs="*", default=list(DOORS), choices=list(DOORS), help="what is asked")
    given = parser.parse_args(arguments)
    sizes = {rows: _measured(rows, given.turns, given.doors) for rows in given.rows}
    for door in given.doors:
        _print_table(door, {rows: times[door] for rows, times in sizes.items()})


def _measured(rows: int, turns: int, doors: Sequence[str]) -> dict[str, dict[str, float]]:
    """The median milliseconds of each filter, and without one (""), by door."""
    with migrated_server() as url:
        make_tables(url, rows)
        settings = {"DATABASE_URL": url, "RATE_LIMIT_PER_MINUTE": "0"}
        services = build_services(Settings.from_environment(settings))
        asyncio.run(record_model(url, services.embeddings))
        with serving(services) as base, httpx2.Client(base_url=base, timeout=REQUEST_SECONDS) as client:
            return {
                door: {name: _median(client, DOORS[door], given, turns) for name, given in {"": {}, **FILTERS}.items()}
                for door in doors
            }


def make_tables(url: str, rows: int) -> None:
    """The tables with so many orders, declared, their words and values in step."""
    owner(url, TABLES, SQL(ROWS).format(rows=Literal(rows)).as_string(None))
    apply_file(url, DECLARED)
    asyncio.run(work_off(url))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("vacuum analyze")


def _median(client: httpx2.Client, ask: Ask, given: Mapping[str, str], turns: int) -> float:
    times = []
    for turn in range(turns + 1):
        started = time.perf_counter()
        ask(client, given)
        if turn:  # the first one fills caches
            times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


def _search(client: httpx2.Client, given: Mapping[str, str]) -> None:
    client.get("/records/search?" + urlencode({"q": "gate", "type": "orders", **given})).raise_for_status()


def _count(client: httpx2.Client, given: Mapping[str, str]) -> None:
    client.get("/records/facets?" + urlencode({"type": "orders", "by": "status", **given})).raise_for_status()


def _query(client: httpx2.Client, given: Mapping[str, str]) -> None:
    query = {"source": "orders", "where": _where(given), "aggregate": ["count"], "group": ["status"]}
    client.post("/query", json=query).raise_for_status()


def _ask(client: httpx2.Client, given: Mapping[str, str]) -> None:
    days = {name: day for name, day in given.items() if name in ("from", "to")}
    facets = {name: [value] for name, value in given.items() if name not in days}
    asked = {"question": "Which orders ask for a gate?", "types": ["orders"], "filters": {**days, "facets": facets}}
    client.post("/records/ask", json={**asked, "fresh": True}).raise_for_status()


def _tool(client: httpx2.Client, given: Mapping[str, str]) -> None:
    called = {"name": "search", "arguments": {"text": "gate", "source": ["orders"], "where": _where(given)}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
    accepts = {"accept": "application/json, text/event-stream"}
    answer = client.post("/mcp", json=message, headers=accepts).raise_for_status()
    result = json.loads(answer.text.partition("data: ")[2] or answer.text)["result"]
    assert not result.get("isError"), result


DOORS: Mapping[str, Ask] = {
    "GET /records/search": _search,
    "GET /records/facets": _count,
    "POST /query": _query,
    "POST /records/ask": _ask,
    "MCP search": _tool,
}


def _where(given: Mapping[str, str]) -> list[dict[str, Any]]:
    """The filters as conditions of a query."""
    where: list[dict[str, Any]] = []
    for name, value in given.items():
        least, dots, most = value.partition("..")
        if name in ("from", "to"):
            where.append({"field": "date", "op": ">=" if name == "from" else "<=", "value": value})
        elif dots:
            ends = [(">=", least), ("<=", most)]
            where += [{"field": name, "op": op, "value": end} for op, end in ends if end]
        else:
            field = name.removeprefix("-")
            where.append({"field": field, "op": "=" if field == name else "!=", "value": value})
    return where


@dataclass(frozen=True)
class _Size:
    rows: int
    times: Mapping[str, float]

    def ratio(self, name: str) -> float:
        return self.times[name] / self.times[""]


def _print_table(door: str, measured: Mapping[int, Mapping[str, float]]) -> None:
    """Milliseconds and the ratio to no filter for each size; the slope is the exponent of the rows between the last two sizes."""
    sizes = [_Size(rows, times) for rows, times in measured.items()]
    print(f"\n{door}, wall ms and ratio to the same without a filter")
    print(f"{'':26}" + "".join(f"{size.rows:>16,}" for size in sizes) + f"{'slope':>8}")
    for name in sizes[0].times:
        cells = "".join(f"{size.times[name]:9.0f}{size.ratio(name):6.1f}x" for size in sizes)
        slopes = [
            math.log(after.times[name] / before.times[name]) / math.log(after.rows / before.rows)
            for before, after in pairwise(sizes)
        ]
        print(f"{name or 'without a filter':26}{cells}{slopes[-1] if slopes else math.nan:8.2f}")
    for size in sizes:
        worst = max(FILTERS, key=size.ratio)
        print(f"{size.rows:,} rows: worst ratio {size.ratio(worst):.1f} ({worst})")


if __name__ == "__main__":
    main()
