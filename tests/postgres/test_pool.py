from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg.sql import SQL

from quarry.platform.errors import ConfigurationError, DatabaseUnavailable
from quarry.postgres.pool import Database, array_of_texts
from tests.conftest import create_database

MakeDatabase = Callable[..., Database]


@pytest.fixture
async def make_database(server_url: str) -> AsyncIterator[MakeDatabase]:
    """Makes databases that are closed after the test; by default of the server's own, unmigrated database."""
    made: list[Database] = []

    def make(
        url: str = server_url, *, pool_size: int = 2, timeout_seconds: float = 5.0, pooled: bool = False
    ) -> Database:
        made.append(Database(url, pool_size=pool_size, timeout_seconds=timeout_seconds, pooled=pooled))
        return made[-1]

    yield make
    for database in made:
        await database.close()


async def one(database: Database) -> int:
    row = await database.row("select 1 as one")
    assert row is not None
    return int(row["one"])


async def backend(database: Database) -> int:
    row = await database.row("select pg_backend_pid() as pid")
    assert row is not None
    return int(row["pid"])


@pytest.mark.parametrize("texts", [[], [""], ["a,b", 'say "so"', "back\\slash", "{x}", "NULL", "é", "two\nlines"]])
async def test_texts_reach_the_server_as_they_are(make_database: MakeDatabase, texts: list[str]) -> None:
    row = await make_database().row("select %s::text[] as texts", [array_of_texts(texts)])
    assert row == {"texts": texts}


async def test_a_wrong_password_is_unavailable_and_not_told(
    server_url: str, make_database: MakeDatabase, impatient: None, caplog: pytest.LogCaptureFixture
) -> None:
    parts = urlsplit(server_url)
    wrong = parts._replace(netloc=parts.netloc.replace(f":{parts.password}@", ":hunter2@")).geturl()
    with pytest.raises(DatabaseUnavailable):
        await one(make_database(wrong))
    assert "hunter2" not in caplog.text


@pytest.mark.parametrize("query", ["select * from nothing", "select nothing()", "select nothing from pg_class"])
async def test_a_database_that_was_not_migrated_is_told_to_the_operator(
    make_database: MakeDatabase, query: str
) -> None:
    with pytest.raises(ConfigurationError, match="quarry migrate"):
        await make_database().rows(query)


async def test_a_connection_that_broke_while_idle_is_replaced_unseen(
    server_url: str, make_database: MakeDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    database = make_database(pool_size=1)
    pid = await backend(database)
    with psycopg.connect(server_url) as operator:
        operator.execute("select pg_terminate_backend(%s, 1000)", [pid])
    assert await backend(database) != pid


async def test_sessions_that_may_only_read_are_given_up_so_that_service_is_back_by_itself(
    server_url: str, make_database: MakeDatabase
) -> None:
    url = create_database(server_url, "core_read_only")
    database = make_database(url, pool_size=1)
    read_only = "alter database core_read_only set default_transaction_read_only = {}"
    with psycopg.connect(server_url, autocommit=True) as operator:
        operator.execute(SQL(read_only).format(True))
        with pytest.raises(DatabaseUnavailable, match="read-only"):
            await database.execute("create table t ()")
        operator.execute(SQL(read_only).format(False))
        await database.execute("create table t ()")
