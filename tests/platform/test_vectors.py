"""Vectors in binary, on every kind of connection."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pgvector import HalfVector

from quarry.postgres.adapters import half_vector
from quarry.postgres.pool import Database
from tests.pgbouncer import transaction_pooler


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


async def test_vectors_are_copied_in_binary(database: Database) -> None:
    async with database.transaction() as connection:
        await connection.execute("create temporary table windows (id text, vector halfvec(2)) on commit drop")
        async with connection.cursor().copy("copy windows from stdin (format binary)") as copy:
            copy.set_types(["text", "halfvec"])
            await copy.write_row(("a", half_vector([0.5, 1.0])))
        cursor = await connection.execute("select vector from windows")
        assert await cursor.fetchall() == [{"vector": HalfVector([0.5, 1.0])}]


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=32))
def test_a_vector_loses_no_more_than_half_precision_does(vector: list[float]) -> None:
    sent = half_vector(vector)
    assert sent is not None
    assert all(math.isclose(*pair, rel_tol=2**-11, abs_tol=2**-25) for pair in zip(sent.to_list(), vector, strict=True))
