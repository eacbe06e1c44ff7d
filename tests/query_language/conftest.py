"""The help desk of `made`, in a database that the tests of a module share."""

from __future__ import annotations

import datetime
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import psycopg
import pytest

from quarry.postgres.pool import Database
from quarry.query.execute import execute
from quarry.schema.algebra import Query, Result
from tests.query_language.made import DESK, TABLES

TODAY = datetime.date(2026, 7, 20)

Ask = Callable[..., Awaitable[Result]]


@pytest.fixture(scope="module")
def desk_url(shared_url: str) -> str:
    with psycopg.connect(shared_url, autocommit=True) as connection:
        connection.execute(TABLES)
    return shared_url


@pytest.fixture
async def ask(desk_url: str) -> AsyncIterator[Ask]:
    """Runs the query that the keywords make."""
    database = Database(desk_url, pool_size=1, timeout_seconds=20)

    async def run(source: str = "tickets", **query: Any) -> Result:
        return await execute(database, Query.model_validate({"source": source, **query}), DESK, TODAY)

    yield run
    await database.close()
