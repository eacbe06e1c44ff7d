"""Whatever rows hold, their collection is applied, searched, counted and answered from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.collections.support import owner
from tests.collections.test_search import fill
from tests.conftest import client_of, clone_database
from tests.records.asking import ask, of_type, the

TABLE = """
create schema odd;
create table odd.things (
  id text primary key, title text, body text, kind text, tags text[], price numeric, weight double precision, made_on date,
  seen_at timestamptz
)
"""
THINGS = """
[collections.things]
source = "odd.things"
title = "title"
text = { title = "A", body = "B" }
date = "made_on"

[collections.things.facets]
kind = "value"
tags = "array"
price = { kind = "money", currency = "EUR" }
weight = "number"
seen_at = "date"
ratio = { kind = "number", expression = "price / weight" }
"""
PLAIN = "insert into odd.things (id, title, body, kind) values ('plain', 'A lantern', 'It burns kestrel oil.', 'lamp');"
ODD = {
    "nothing": "",
    "empty texts": "insert into odd.things (id, title, body) select i::text, '', ' ' from generate_series(1, 30) i",
    "nulls alone": "insert into odd.things (id) select i::text from generate_series(1, 30) i",
    "stop words": "insert into odd.things (id, title, body) select i::text, 'the', 'of and to' from generate_series(1, 30) i",
    "signs": "insert into odd.things (id, title, body) select i::text, '???', '--- !!' from generate_series(1, 30) i",
    "a gigantic text": PLAIN + "insert into odd.things (id, body) values ('big', repeat('kestrel ', 700000))",
    "a gigantic word": PLAIN + "insert into odd.things (id, title) values ('big', repeat('x', 3000000))",
    "endless different words": PLAIN
    + "insert into odd.things (id, body) select 'big', string_agg('w' || i, ' ') from generate_series(1, 300000) i",
    "a gigantic value": PLAIN
    + "insert into odd.things (id, kind, tags) values ('big', repeat('k ', 9000), array[repeat('t', 9000)])",
    "odd arrays": PLAIN + "insert into odd.things (id, tags) values ('a', '{}'), ('b', '{null}'), ('c', '{{a,b},{c,d}}'),"
    " ('d', array[null, '', 'x']), ('e', '[5:6]={p,q}')",
    "endless dates": PLAIN + "insert into odd.things (id, made_on, seen_at) values ('a', 'infinity', 'infinity'),"
    " ('b', '-infinity', '-infinity'), ('c', '2024-01-01', '2024-01-01')",
    "ancient dates": PLAIN + "insert into odd.things (id, made_on, seen_at) values ('a', '0044-03-15 BC', '0044-03-15 BC'),"
    " ('b', '0001-01-01', '0001-01-01'), ('c', '12024-01-01', '12024-01-01')",
    "no numbers": PLAIN + "insert into odd.things (id, price, weight) values ('a', 'NaN', 'NaN'), ('b', 'Infinity', 'Infinity'),"
    " ('c', '-Infinity', '-Infinity'), ('d', 0, 0), ('e', -5, -1), ('f', 1e300, 1e300), ('g', 1, 1e-300)",
    "odd keys": PLAIN + r"insert into odd.things (id, title) values ('', 'x'), (' ', 'x'), ('a''b', 'x'), ('%s', 'x'),"
    r" ('{}', 'x'), ('a/b', 'x'), (E'\x01\x1f', 'x'), (E'a\nb', 'x'), ('\', 'x'), ('ü😀', 'x'), ('../..', 'x'), ('null', 'x')",
    "a long key": PLAIN
    + "insert into odd.things (id, title) select string_agg(md5(i::text), ''), 'x' from generate_series(1, 80) i",
    "odd characters": PLAIN + r"insert into odd.things (id, title, body, kind) values"
    r" ('a', E'\x01\x02', E'\u200b\u202e\u2028\ufeff', E'\ufffe'),"
    r" ('b', '<script>', '&amp %s {0} \0', '%'), ('c', 'ﷺ', '𝕬', 'İ')",
}  # fmt: skip
"""The rows of each table."""


@pytest.fixture(scope="module", params=ODD)
def client(
    request: pytest.FixtureRequest, server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TestClient]:
    with clone_database(server_url, migrated_template) as url:
        owner(url, TABLE, *filter(None, ODD[request.param].split(";")))
        fill(url, THINGS, tmp_path_factory.mktemp("odd"))
        with client_of(url) as client:
            yield client


def answered(client: TestClient, path: str, **parameters: Any) -> dict[str, Any]:
    response = client.get(path, params=parameters)
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    assert not body.get("degraded")
    return body


@pytest.mark.parametrize("query", ["lantern kestrel", "x", "the", "w7 w8", "kind lamp", "things made in 2024"])
def test_it_is_searched_and_each_row_found_can_be_read(client: TestClient, query: str) -> None:
    for each in answered(client, "/records/search", q=query, limit=100)["results"]:
        if 1 <= len(each["id"]) <= 64:
            assert answered(client, f"/records/things/{each['id']}")["id"] == each["id"]


@pytest.mark.parametrize("by", ["kind", "tags", "price", "weight", "seen_at", "ratio", "day", "month", "year"])
def test_it_is_counted_by_everything(client: TestClient, by: str) -> None:
    answered(client, "/records/facets", by=by)


def test_what_its_numbers_come_to_is_told(client: TestClient) -> None:
    for of in ("sum:price", "avg:weight", "min:ratio", "max:price"):
        answered(client, "/records/facets", of=of)
        answered(client, "/records/facets", of=of, by="kind")


@pytest.mark.parametrize(
    "question",
    [
        "What does the lantern burn?", "How many things are there?", "What is the highest price?", "average weight by kind",
        "How many things were made each year?", "things with a ratio over 2", "the latest things",
    ],
)  # fmt: skip
def test_it_is_answered_from(client: TestClient, question: str) -> None:
    events = ask(client, question)
    assert of_type(events, "error") == []
    assert the(events, "done")["degraded"] == []
