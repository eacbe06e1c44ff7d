"""Vectors in binary, on every kind of connection."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pgvector import HalfVector

from quarry.postgres.pool import Database
from quarry.postgres.vectors import half_vector, half_vectors
from tests.pgbouncer import transaction_pooler

SHOWN = "select %s::text as text, pg_typeof(%s)::text as type"


@pytest.fixture(params=["direct", "pooled"])
async def database(request: pytest.FixtureRequest, database_url: str) -> AsyncIterator[Database]:
    """A database reached directly, or through a transaction pooler whose clients share one session."""
    if request.param == "direct":
        database = Database(database_url, pool_size=2, timeout_seconds=5)
        yield database
        await database.close()
        return
    with transaction_pooler(database_url, pool_size=1) as url:
        database = Database(url, pool_size=2, timeout_seconds=5, pooled=True)
        yield database
        await database.close()


async def test_a_vector_arrives_as_it_was_sent(database: Database) -> None:
    vector = half_vector([0.5, -0.25, 0.0])
    assert await database.row(SHOWN, [vector, vector]) == {"text": "[0.5,-0.25,0]", "type": "halfvec"}
    row = await database.row("select %s as vector", [vector])
    assert row is not None
    assert row["vector"] == vector


async def test_many_vectors_arrive_as_one_array_with_its_gaps(database: Database) -> None:
    vectors = half_vectors([None, [0.5, 1.0], None])
    assert await database.row(SHOWN, [vectors, vectors]) == {"text": '{NULL,"[0.5,1]",NULL}', "type": "halfvec[]"}


async def test_vectors_go_in_binary(database: Database) -> None:
    async with database.transaction() as connection:
        cursor = connection.cursor()
        await cursor.execute("select %s, %s", [half_vector([0.5]), half_vectors([[0.5]])])
        query = cursor._query
        assert query is not None
        assert query.formats == [psycopg.pq.Format.BINARY] * 2


async def test_vectors_are_copied_in_binary(database: Database) -> None:
    async with database.transaction() as connection:
        await connection.execute("create temporary table windows (id text, vector halfvec(2)) on commit drop")
        async with connection.cursor().copy("copy windows from stdin (format binary)") as copy:
            copy.set_types(["text", "halfvec"])
            await copy.write_row(("a", half_vector([0.5, 1.0])))
        cursor = await connection.execute("select vector from windows")
        assert await cursor.fetchall() == [{"vector": HalfVector([0.5, 1.0])}]


def test_no_vectors_at_all_are_null() -> None:
    assert half_vector(None) is None
    assert half_vectors([]) is None
    assert half_vectors([None, None]) is None


async def test_the_extension_may_be_in_any_schema(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("create schema elsewhere; alter extension vector set schema elsewhere")
    database = Database(database_url, pool_size=1, timeout_seconds=5)
    vector = half_vector([0.5])
    assert await database.row(SHOWN, [vector, vector]) == {"text": "[0.5]", "type": "halfvec"}
    await database.close()


async def test_a_connection_older_than_the_extension_learns_of_it(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("drop extension vector cascade")
    database = Database(database_url, pool_size=1, timeout_seconds=5)
    assert await database.row("select 1 as answer") == {"answer": 1}
    await database.execute("create extension vector")
    assert await database.row("select vector_dims(%s) as dimensions", [half_vector([0.5])]) == {"dimensions": 1}
    await database.close()


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=32))
def test_a_vector_loses_no_more_than_half_precision_does(vector: list[float]) -> None:
    sent = half_vector(vector)
    assert sent is not None
    assert all(math.isclose(*pair, rel_tol=2**-11, abs_tol=2**-25) for pair in zip(sent.to_list(), vector, strict=True))
