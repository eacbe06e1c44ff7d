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


def test_a_table_of_three_hundred_texts_is_searched(
    database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    columns = [f"c{number}" for number in range(300)]
    owner(
        database_url,
        f"create table public.wide (id int primary key, {', '.join(f'{each} text' for each in columns)})",
        "insert into public.wide (id, c7, c299) values (1, 'A lantern', 'It burns kestrel oil.')",
    )
    texts = ", ".join(f'"{each}"' for each in columns)
    fill(database_url, f'[collections.wide]\nsource = "wide"\ntext = [{texts}]\n', tmp_path_factory.mktemp("wide"))
    with client_of(database_url) as client:
        [found] = answered(client, "/records/search", q="kestrel")["results"]
        assert found["title"] == "A lantern It burns kestrel oil."
        assert answered(client, "/records/wide/1")["fields"]["c7"] == "A lantern"
