"""How a query as typed is read by SQL: as websearch_to_tsquery reads it, within bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.rows import namedtuple_row

from quarry.platform.text import QUERY_MAX_CHARACTERS
from tests.conftest import clone_database

Connection = psycopg.Connection[Any]

WORDS_MAX = 16
EXCLUDED_MAX = 6 + 12  # the last one may be a phrase
LISTED_WORDS_MAX = 250

word = st.text("abcdefgh-'.é", min_size=1, max_size=9) | st.sampled_from(
    ["or", "OR", "the", "bridge", "a-b", "-", "--x", "x:*"]
)
part = word | st.lists(word, max_size=5).map(lambda words: f'"{" ".join(words)}"') | word.map(lambda text: f"-{text}")
typed = st.lists(part, max_size=60).map(" ".join) | st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), max_size=QUERY_MAX_CHARACTERS
)
many = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def connection(server_url: str, migrated_template: str) -> Iterator[Connection]:
    with (
        clone_database(server_url, migrated_template) as url,
        psycopg.connect(url, autocommit=True, row_factory=namedtuple_row) as connection,
    ):
        yield connection


def read(connection: Connection, query: str) -> Any:
    row = connection.execute(
        "select all_words::text, required::text, words, (numnode(all_words) + 1) / 2 as nodes,"
        " numnode(required) as required_nodes, index_query(all_words)::text as indexed from read_query(%s)",
        [query],
    ).fetchone()
    assert row is not None
    return row


def websearch(connection: Connection, query: str) -> str:
    row = connection.execute("select websearch_to_tsquery('english', %s)::text as query", [query]).fetchone()
    assert row is not None
    return str(row.query)


@pytest.mark.parametrize(
    "query",
    [
        "why was the bridge closed?",
        '"city hall" roof',
        'bike -car "bus stop" OR ferry',
        "austin - dallas",
        "well-known http://a.example/c?d=e",
        '"an open quote',
        "O'Brien & x | y:*",
        "",
    ],
)
def test_a_query_within_the_bounds_is_read_as_websearch_reads_it(connection: Connection, query: str) -> None:
    assert read(connection, query).all_words == websearch(connection, query)


@many
@given(query=typed)
def test_whatever_is_typed_stays_within_the_bounds(connection: Connection, query: str) -> None:
    found = read(connection, query)
    assert found.nodes <= 2 * (WORDS_MAX + EXCLUDED_MAX)  # an exclusion has a node of its own
    assert found.required_nodes <= 4 * (WORDS_MAX + EXCLUDED_MAX)
    assert len(found.words) == len(set(found.words)) <= LISTED_WORDS_MAX
