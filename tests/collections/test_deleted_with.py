"""Rows that are marked as deleted take with them what is part of them, by the draft; the card says so, and no 0 is false."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from tests.collections.support import drafted
from tests.conftest import client_of
from tests.query.desk import asked, refused

TABLES = """
create schema shop;
create table shop.customers (
  id int primary key, name text not null, segment text not null, bio text, deleted_at timestamptz
);
insert into shop.customers select i, 'Customer ' || i, (array['retail', 'trade', 'club'])[1 + i % 3],
  'Buys garden tools and seeds, often in spring, number ' || i, case when i % 10 = 0 then now() end
  from generate_series(1, 30) i;
create table shop.products (id int primary key, name text not null, price numeric(8, 2) not null, deleted_at timestamptz);
insert into shop.products select i, 'Product ' || i, i, case when i = 1 then now() end from generate_series(1, 5) i;
create table shop.orders (
  id int primary key, customer_id int not null references shop.customers, placed_on date not null, total numeric(10, 2) not null,
  status text not null, deleted_at timestamptz
);
insert into shop.orders select i, 1 + i % 30, date '2026-01-01' + i, 100, (array['open', 'shipped'])[1 + i % 2],
  case when i % 4 = 0 then now() end from generate_series(1, 60) i;
create table shop.order_lines (
  id int primary key, order_id int not null references shop.orders, product_id int not null references shop.products,
  quantity int not null
);
insert into shop.order_lines select i, 1 + i % 60, 1 + i % 5, 2 from generate_series(1, 120) i;
create table shop.payments (
  id int primary key, order_id int references shop.orders, paid_on date not null, amount numeric(10, 2) not null
);
insert into shop.payments select i, nullif(i % 61, 0), date '2026-02-01' + i % 30, 50 from generate_series(1, 122) i;
analyze;
"""
DELETED = range(4, 61, 4)


@pytest.fixture(scope="module")
def url(server_url: str, migrated_template: str) -> Iterator[str]:
    with drafted(server_url, migrated_template, "shop", TABLES) as url:
        yield url


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[TestClient]:
    with client_of(url) as client:
        yield client


def counted(client: TestClient, source: str, **query: Any) -> int:
    total: int = asked(client, {"source": source, "aggregate": ["count"], **query})["total"]
    return total


def test_lines_and_payments_of_deleted_orders_are_left_out_and_all_else_stays(client: TestClient) -> None:
    assert counted(client, "orders") == 60 - len(DELETED)
    assert counted(client, "customers") == 27
    assert counted(client, "order_lines") == sum(1 + i % 60 not in DELETED for i in range(1, 121))
    assert counted(client, "payments") == sum(i % 61 not in DELETED for i in range(1, 123))
    facets = client.get("/records/facets", params={"type": "payments"}).json()
    assert facets["total"] == counted(client, "payments")
    listed = {each["name"]: each.get("left_out") for each in client.get("/collections").json()["collections"]}
    assert listed["orders"] == "leaves out rows by deleted_at"
    assert "orders that is left out by deleted_at" in listed["order_lines"]


def test_a_write_takes_them_out_and_back_at_once(client: TestClient, url: str) -> None:
    before = counted(client, "payments", where=[{"field": "amount", "value": 50}])
    with psycopg.connect(url, autocommit=True) as connection:
        for mark, change in (("now()", -2), ("null", 0)):
            connection.execute(f"update shop.orders set deleted_at = {mark} where id = 1".encode())
            assert counted(client, "payments", where=[{"field": "amount", "value": 50}]) == before + change


def test_a_facet_and_the_path_to_the_same_value_give_the_same_groups(client: TestClient) -> None:
    [described] = [each for each in client.get("/collections").json()["collections"] if each["name"] == "orders"]
    links = [
        each["name"] for each in (*described["fields"], *described["related"]) if each.get("references") == "customers"
    ]
    copied, path = (
        asked(client, {"source": "orders", "aggregate": ["count"], "group": [field]})["rows"]
        for field in ("segment", f"{links[0]}.segment")
    )
    assert sorted(map(str, copied)) == sorted(map(str, path))
    assert {group for group, _ in copied} == {"retail", "trade", "club"}


@pytest.mark.parametrize("op", ["not_null", ">"])
def test_what_is_left_out_is_not_counted_as_none(client: TestClient, op: str) -> None:
    value = {} if op == "not_null" else {"value": "2020"}
    query = {"source": "orders", "aggregate": ["count"], "where": [{"field": "deleted_at", "op": op, **value}]}
    assert "leaves out rows by deleted_at" in refused(client, query)["/where/0"]
    for question in ("How many orders were deleted?", "How many deleted orders are there?"):
        answer = client.post("/records/ask", json={"question": question}).text
        assert '"total":0' not in answer
