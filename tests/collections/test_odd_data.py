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
GIGANTIC = "gigantic texts"
ODD = {
    "nothing": "",
    "texts without words": "insert into odd.things (id, title, body) select i::text, t, t"
    " from generate_series(1, 20) i, unnest(array[null, '', ' ', 'the', '--- ???']) with ordinality u (t, n) where n = 1 + i % 5",
    GIGANTIC: PLAIN + "insert into odd.things (id, title) values ('one word', repeat('x', 3000000));"
    "insert into odd.things (id, body) select 'different', string_agg('w' || i, ' ') from generate_series(1, 200000) i;"
    "insert into odd.things (id, kind, tags) values ('values', repeat('k ', 9000), array[repeat('t', 9000)]);"
    "insert into odd.things (id, title) select string_agg(md5(i::text), ''), 'x' from generate_series(1, 80) i",
    "dates that no calendar has": PLAIN + "insert into odd.things (id, made_on, seen_at) select d, d::date, d::timestamptz from"
    " unnest(array['infinity', '-infinity', '0044-03-15 BC', '0001-01-01', '2024-01-01', '12024-01-01']) d",
    "numbers and arrays": PLAIN + "insert into odd.things (id, price, weight) values ('a', 'NaN', 'NaN'),"
    " ('b', 'Infinity', 'Infinity'), ('c', '-Infinity', '-Infinity'), ('d', 0, 0), ('e', -5, -1), ('f', 1e300, 1e300),"
    " ('g', 1, 1e-300); insert into odd.things (id, tags) values ('h', '{}'), ('i', '{null}'), ('j', '{{a,b},{c,d}}'),"
    " ('k', array[null, '', 'x']), ('l', '[5:6]={p,q}')",
    "odd characters": PLAIN + r"insert into odd.things (id, title) values ('', 'x'), (' ', 'x'), ('a''b', 'x'), ('%s', 'x'),"
    r" ('{}', 'x'), ('a/b', 'x'), (E'\x01\x1f', 'x'), (E'a\nb', 'x'), ('\', 'x'), ('ü😀', 'x'), ('../..', 'x'), ('null', 'x');"
    r" insert into odd.things (id, title, body, kind) values ('a', E'\x01\x02', E'\u200b\u202e\u2028\ufeff', E'\ufffe'),"
    r" ('b', '<script>', '&amp %s {0} \0', '%'), ('c', 'ﷺ', '𝕬', 'İ')",
}  # fmt: skip
"""The rows of each table."""


@pytest.fixture(scope="module", params=ODD)
def client(
    request: pytest.FixtureRequest, server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TestClient]:
    with clone_database(server_url, migrated_template) as url:
        owner(url, TABLE, *filter(None, ODD[request.param].split(";")))
        # two thousand windows of one text would take half a minute, and are like any others
        declared = THINGS.replace("date =", 'embed = "title"\ndate =', 1) if request.param == GIGANTIC else THINGS
        fill(url, declared, tmp_path_factory.mktemp("odd"))
        with client_of(url) as client:
            yield client


def answered(client: TestClient, path: str, **parameters: Any) -> dict[str, Any]:
    response = client.get(path, params=parameters)
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    assert not body.get("degraded")
    return body


def test_it_is_searched_counted_and_answered_from(client: TestClient) -> None:
    for query in ("lantern kestrel", "x", "the", "w7 w8", "things made in 2024"):
        for each in answered(client, "/records/search", q=query, limit=100)["results"]:
            if 1 <= len(each["id"]) <= 64:
                assert answered(client, f"/records/things/{each['id']}")["id"] == each["id"]
    for by in ("kind", "tags", "price", "weight", "seen_at", "ratio", "day", "month"):
        answered(client, "/records/facets", by=by)
    for of in ("sum:price", "avg:weight", "min:ratio", "max:price"):
        answered(client, "/records/facets", of=of, by="kind")
    for question in ("What does the lantern burn?", "average weight by kind", "things with a ratio over 2"):
        events = ask(client, question)
        assert of_type(events, "error") == []
        assert the(events, "done")["degraded"] == []
