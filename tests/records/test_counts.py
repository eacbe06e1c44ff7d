"""How many records a search finds: exactly, whatever the list shows of them, and how that is told where there are very many."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row
from psycopg.sql import SQL, Identifier
from starlette.testclient import TestClient

from quarry.query.execute import compile_query
from quarry.records import search
from quarry.records.sources import BUILT_IN
from quarry.schema.algebra import Query
from quarry.schema.source import Schema, union_of
from tests.conftest import client_of

ELMS, OAKS, BOTH = 300, 150, 50
"""Motions of each kind of tree; they are more than the list ever holds."""


@pytest.fixture(scope="module")
def many_url(shared_url: str) -> str:
    with psycopg.connect(shared_url, autocommit=True) as connection:
        for tree, number in (("elm", ELMS - BOTH), ("oak", OAKS - BOTH), ("elm and oak", BOTH)):
            connection.execute(
                "insert into motions (id, text_content, mover, result, date)"
                " select %s || n, 'To keep the ' || %s, 'Member ' || n,"
                " case when n %% 2 = 0 then 'Carried' else 'Failed' end, '2024-01-01'::date + n"
                " from generate_series(1, %s::int) n",
                [tree, tree, number],
            )
        connection.execute("analyze motions")
        connection.execute("select count_lexemes('motions')")
    return shared_url


@pytest.fixture(scope="module")
def many(many_url: str) -> Iterator[TestClient]:
    with client_of(many_url) as client:
        yield client


def counted(client: TestClient, q: str, **parameters: Any) -> tuple[int, bool]:
    response = client.get("/records/search", params={"q": q} | parameters)
    assert response.status_code == 200
    body = response.json()
    assert body.get("capped") == (["motion"] if body["more"] else None)
    return body["counts"]["motion"], body["more"]


@pytest.mark.parametrize(
    ("query", "parameters", "number"),
    [
        ("elm", {}, ELMS),
        ("elm oak", {}, ELMS + OAKS - BOTH),
        ("elm -oak", {}, ELMS - BOTH),
        ('"elm and oak"', {"must": True}, BOTH),
        ("elm", {"limit": 1, "offset": 400}, ELMS),
        ("elm", {"from": "2024-01-02", "to": "2024-01-11"}, 20),
        ("elm", {"result": "Carried"}, ELMS // 2),
        ("motions that failed", {}, (ELMS + OAKS - BOTH) // 2),
    ],
)
def test_all_records_that_a_search_finds_are_counted(
    many: TestClient, query: str, parameters: dict[str, Any], number: int
) -> None:
    assert counted(many, query, **parameters) == (number, False)


def test_of_very_many_it_is_told_that_there_are_more(many: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "COUNTED_MAX", ELMS)
    assert counted(many, "elm") == (ELMS, False)
    assert counted(many, "elm oak") == (ELMS, True)
    monkeypatch.setattr(search, "COUNTED_MAX", 10)
    assert counted(many, "elm") == counted(many, "motions that failed") == (10, True)


def test_the_rows_of_all_types_are_one_source_with_every_facet_of_any(shared_sample_url: str) -> None:
    tables = [each.table for each in BUILT_IN.values()]
    union = union_of(tables)
    assert {*union.facets} == {name for table in tables for name in table.facets}
    query = Query(source=union.name, select=tuple(union.facets), limit=3)
    statement = compile_query(query, Schema({union.name: union}), datetime.date(2026, 1, 1))
    with psycopg.connect(shared_sample_url, row_factory=dict_row) as connection:
        rows = connection.execute(statement.sql, statement.parameters).fetchall()
        counts = [connection.execute(SQL("select from {}").format(Identifier(table.rows))).rowcount for table in tables]
    assert rows[0]["total"] == sum(counts)
