"""The pairs that the reader is fitted to and judged by: each is well formed, and its answer is what its data says."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL, Identifier
from starlette.testclient import TestClient

from tests.conftest import client_of, clone_database, create_database
from tests.pairs import database_sql

FOLDER = Path(__file__).parent
KINDS = frozenset(
    "date period share per or amount duration part-of-name colloquial plain count list group extreme absence"
    " unanswerable follow-up".split()
)
DATABASES = sorted(path.stem for path in (FOLDER / "databases").glob("*.sql"))
SPOKEN = {path.stem for path in (FOLDER / "databases").glob("*.toml")}
"""Databases with a file of what people call things: questions are made over them."""
ASKED = sorted({path.stem for path in FOLDER.glob("*.jsonl")} & {*DATABASES})
OF_SAMPLE = sorted(path.stem for path in FOLDER.glob("sample-*.jsonl"))


def pairs_of(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def connection(server_url: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection to a database with a schema for each of ours; nothing can be written by it."""
    with psycopg.connect(create_database(server_url, "pairs"), autocommit=True) as connection:
        for name in DATABASES:
            connection.execute(SQL("create schema {0}; set search_path to {0}").format(Identifier(name)))
            connection.execute(database_sql(name).encode())
        connection.execute("set search_path to pg_catalog; set default_transaction_read_only to on")
        yield connection


@pytest.fixture(scope="module")
def sample(server_url: str, sample_template: str) -> Iterator[TestClient]:
    with clone_database(server_url, sample_template) as url, client_of(url) as client:
        yield client


def test_every_database_has_pairs_and_the_other_way_round() -> None:
    marked = {"people", "company_names", "places", "denials", "bounds", "spoken"}
    assert {path.stem for path in FOLDER.glob("*.jsonl")} == {*ASKED, *OF_SAMPLE, *marked}
    assert {*ASKED} | SPOKEN == {*DATABASES}


@pytest.mark.parametrize("name", [*ASKED, *OF_SAMPLE])
def test_every_pair_is_well_formed_and_stands_once(name: str) -> None:
    pairs = pairs_of(name)
    answer = "query" if name in OF_SAMPLE else "sql"
    asked = Counter((pair["question"].casefold(), pair.get("previous")) for pair in pairs)
    questions = {pair["question"] for pair in pairs}
    for pair in pairs:
        assert set(pair) - {"previous"} == {"question", answer, "today", "language", "kind"}, pair
        assert pair["kind"] in KINDS, pair
        assert pair["language"] in ("en", "de", "fr"), pair
        assert (pair[answer] is None) == (pair["kind"] == "unanswerable"), pair
        assert ("previous" in pair) == (pair["kind"] == "follow-up"), pair
        assert pair.get("previous", pair["question"]) in questions, f"no question that it follows: {pair}"
    assert [each for each, times in asked.items() if times > 1] == []
    assert len({pair["today"] for pair in pairs}) == 1


@pytest.mark.parametrize("name", ASKED)
def test_every_gold_statement_answers(connection: psycopg.Connection[Any], name: str) -> None:
    with connection.transaction():
        connection.execute(SQL("set local search_path to {}").format(Identifier(name)))
        for sql in {pair["sql"] for pair in pairs_of(name)} - {None}:
            rows = connection.execute(sql).fetchall()
            assert any(value is not None for row in rows for value in row), f"answers with nothing: {sql}"


@pytest.mark.parametrize("name", OF_SAMPLE)
def test_every_gold_query_answers(sample: TestClient, name: str) -> None:
    for pair in pairs_of(name):
        if pair["query"] is not None:
            response = sample.post("/query", json=pair["query"])
            assert response.status_code == 200, (pair, response.text)
            assert response.json()["rows"], f"answers with nothing: {pair}"
