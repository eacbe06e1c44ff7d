from __future__ import annotations

import asyncio
import logging
import shutil
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg.sql import SQL
from psycopg_pool.base import AttemptWithBackoff

from quarry.local import embedded_postgres
from quarry.local.embedded_postgres import EmbeddedPostgres
from quarry.platform.errors import ConfigurationError, DatabaseUnavailable, QuarryError
from quarry.postgres import pool
from quarry.postgres.failures import translate
from quarry.postgres.pool import Database
from tests.conftest import create_database
from tests.waiting import PATIENCE_SECONDS, wait_until

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


async def test_nothing_connects_before_the_first_query(make_database: MakeDatabase) -> None:
    database = make_database("postgresql://127.0.0.1:1/none")
    await database.close()


@pytest.mark.usefixtures("impatient")
async def test_an_unreachable_database_is_unavailable_within_the_timeout(make_database: MakeDatabase) -> None:
    database = make_database("postgresql://127.0.0.1:1/none")
    started = time.monotonic()
    with pytest.raises(DatabaseUnavailable) as raised:
        await one(database)
    assert time.monotonic() - started < pool.CONNECT_TIMEOUT_SECONDS + 10
    assert raised.value.retry_after_seconds == 5
    assert "127.0.0.1" not in raised.value.message


@pytest.mark.usefixtures("impatient")
async def test_a_server_that_accepts_but_never_answers_is_unavailable(make_database: MakeDatabase) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        database = make_database(f"postgresql://127.0.0.1:{silent.getsockname()[1]}/none")
        async with asyncio.timeout(PATIENCE_SECONDS):
            with pytest.raises(DatabaseUnavailable):
                await one(database)


async def test_a_wrong_password_is_unavailable_and_not_told(
    server_url: str, make_database: MakeDatabase, impatient: None, caplog: pytest.LogCaptureFixture
) -> None:
    parts = urlsplit(server_url)
    wrong = parts._replace(netloc=parts.netloc.replace(f":{parts.password}@", ":hunter2@")).geturl()
    with pytest.raises(DatabaseUnavailable):
        await one(make_database(wrong))
    assert "hunter2" not in caplog.text


async def test_a_statement_that_takes_too_long_is_cancelled(make_database: MakeDatabase) -> None:
    database = make_database(timeout_seconds=0.5)
    with pytest.raises(DatabaseUnavailable, match="too long"):
        await database.execute("select pg_sleep(5)")
    assert await one(database) == 1


@pytest.mark.parametrize("query", ["select * from nothing", "select nothing()", "select nothing from pg_class"])
async def test_a_database_that_was_not_migrated_is_told_to_the_operator(
    make_database: MakeDatabase, query: str
) -> None:
    with pytest.raises(ConfigurationError, match="quarry migrate"):
        await make_database().rows(query)


async def test_a_fault_of_our_own_is_not_dressed_up(make_database: MakeDatabase) -> None:
    for query in ("selekt", "select 1/0", "select 'a'::int"):
        with pytest.raises(psycopg.Error) as raised:
            await make_database().rows(query)
        assert not isinstance(raised.value, QuarryError)


@pytest.mark.usefixtures("impatient")
async def test_an_exhausted_pool_is_unavailable_until_a_connection_comes_back(make_database: MakeDatabase) -> None:
    database = make_database(pool_size=1)
    async with database.transaction():
        with pytest.raises(DatabaseUnavailable):
            await one(database)
    assert await one(database) == 1


async def test_requests_wait_for_their_turn_and_share_the_pool(make_database: MakeDatabase) -> None:
    database = make_database(pool_size=2)
    pids = await asyncio.gather(*(backend(database) for _ in range(30)))
    assert 1 <= len(set(pids)) <= 2


async def test_a_transaction_is_kept_or_undone_as_a_whole(make_database: MakeDatabase) -> None:
    database = make_database(pool_size=1)
    await database.execute("create temporary table kept (n int)")
    async with database.transaction() as connection:
        await connection.execute("insert into kept values (1)")

    async def fail_midway() -> None:
        async with database.transaction() as connection:
            await connection.execute("insert into kept values (2)")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail_midway()
    assert await database.rows("select n from kept") == [{"n": 1}]
    assert await database.execute("delete from kept") == 1
    assert await database.row("select n from kept") is None


async def test_a_cancelled_query_gives_its_connection_back(make_database: MakeDatabase) -> None:
    database = make_database(pool_size=1)
    await one(database)
    sleeping = asyncio.create_task(database.execute("select pg_sleep(600)"))
    await asyncio.wait({sleeping}, timeout=0.1)
    sleeping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sleeping
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert await one(database) == 1


async def test_who_leaves_while_a_transaction_begins_is_no_reason_to_warn(
    server_url: str, make_database: MakeDatabase, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    database = make_database(pool_size=1)
    pid = await backend(database)
    with monkeypatch.context() as patch, psycopg.connect(server_url, autocommit=True) as watcher:
        patch.setattr(database, "_begin_message", SQL("begin; select pg_sleep(60)"))
        asking = asyncio.create_task(one(database))
        begun = "select 1 from pg_stat_activity where pid = %s and wait_event = 'PgSleep'"
        await asyncio.to_thread(wait_until, lambda: watcher.execute(begun, [pid]).fetchone())
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    assert await backend(database) == pid
    assert "rolling back" not in caplog.text


async def test_a_connection_that_broke_while_idle_is_replaced_unseen(
    server_url: str, make_database: MakeDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    database = make_database(pool_size=1)
    pid = await backend(database)
    with psycopg.connect(server_url) as operator:
        operator.execute("select pg_terminate_backend(%s, 1000)", [pid])
    assert await backend(database) != pid


async def test_one_request_sees_that_all_connections_broke(server_url: str, make_database: MakeDatabase) -> None:
    database = make_database(pool_size=6)
    everyone = asyncio.Barrier(6)

    async def hold() -> int:
        async with database.transaction() as connection:
            await everyone.wait()
            return connection.info.backend_pid

    pids = await asyncio.gather(*(hold() for _ in range(6)))
    with psycopg.connect(server_url) as operator:
        operator.execute("select pg_terminate_backend(pid, 5000) from unnest(%s::int[]) pid", [pids])
    assert await backend(database) not in pids


async def test_a_connection_that_breaks_in_use_is_unavailable(server_url: str, make_database: MakeDatabase) -> None:
    database = make_database(pool_size=1)
    pid = await backend(database)
    sleeping = asyncio.create_task(database.execute("select pg_sleep(30)"))
    await asyncio.wait({sleeping}, timeout=0.1)
    with psycopg.connect(server_url) as operator:
        operator.execute("select pg_terminate_backend(%s, 1000)", [pid])
    with pytest.raises(DatabaseUnavailable):
        await sleeping
    assert await one(database) == 1


@pytest.mark.parametrize(("pooled", "prepared"), [(False, True), (True, False)])
async def test_statements_are_prepared_unless_a_pooler_stands_between(
    make_database: MakeDatabase, pooled: bool, prepared: bool
) -> None:
    database = make_database(pool_size=1, pooled=pooled)
    for _ in range(10):
        await one(database)
    assert (await database.rows("select name from pg_prepared_statements") != []) == prepared


async def test_what_is_set_aside_waits_neither_behind_searches_nor_behind_what_else_is(server_url: str) -> None:
    database = Database(server_url, pool_size=1, timeout_seconds=5, sets_aside=True)
    async with database.transaction(), database.reserve.transaction(), database.beside.transaction():
        assert await one(database.probe) == 1
        assert await backend(database.probe) == await backend(database.probe)
    await database.close()


async def test_what_is_done_beside_requests_waits_for_locks_no_longer_than_a_second(server_url: str) -> None:
    database = Database(server_url, pool_size=1, timeout_seconds=60, sets_aside=True)
    limits = "select current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement"
    assert await database.beside.row(limits) == {"lock": "1s", "statement": "2s"}
    assert await database.reserve.row(limits) == {"lock": "30s", "statement": "1min"}
    await database.close()


async def test_where_none_are_set_aside_the_pools_connections_serve_all(make_database: MakeDatabase) -> None:
    database = make_database(pool_size=1)
    assert database.reserve is database.probe is database
    assert await backend(database.beside) == await backend(database)


@pytest.mark.parametrize(
    "state",
    [
        "25006", "25P03", "25P04", "40001", "40P01", "53100", "53200", "53300", "55P03", "57014", "57P01", "57P02", "57P03",
        "08006", "08P01",
    ],
)  # fmt: skip
def test_what_the_database_cannot_do_now_is_to_be_tried_again(state: str) -> None:
    error = translate(psycopg.errors.lookup(state)("secret"))
    assert isinstance(error, DatabaseUnavailable)
    assert error.retry_after_seconds == 5
    assert "secret" not in error.message


@pytest.mark.parametrize("state", ["42P05", "26000"])
def test_a_pooler_that_was_not_told_of_is_a_matter_of_configuration(state: str) -> None:
    assert "DATABASE_POOLED" in str(translate(psycopg.errors.lookup(state)()))


async def test_sessions_that_may_only_read_are_given_up_so_that_service_is_back_by_itself(
    server_url: str, make_database: MakeDatabase
) -> None:
    url = create_database(server_url, "core_read_only")
    database = make_database(url, pool_size=1)
    read_only = "alter database core_read_only set default_transaction_read_only = {}"
    with psycopg.connect(server_url, autocommit=True) as operator:
        operator.execute(SQL(read_only).format(True))
        with pytest.raises(DatabaseUnavailable, match="takes no changes"):
            await database.execute("create table t ()")
        operator.execute(SQL(read_only).format(False))
        await database.execute("create table t ()")


async def test_a_closed_database_opens_again_when_asked(make_database: MakeDatabase) -> None:
    database = make_database()
    pid = await backend(database)
    await database.close()
    assert await backend(database) != pid


@pytest.fixture
def own_directory() -> Iterator[Path]:
    """A directory for a server of the test's own, which every user can reach."""
    directory = Path(tempfile.mkdtemp(prefix="quarry-"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


async def test_service_is_back_by_itself_when_postgres_is(
    own_directory: Path,
    make_database: MakeDatabase,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.CRITICAL, "psycopg.pool")
    monkeypatch.setattr(pool, "CONNECT_TIMEOUT_SECONDS", 0.8)
    # as in an outage so long that the pool would wait a minute before it tried again
    monkeypatch.setattr(AttemptWithBackoff, "INITIAL_DELAY", 60.0)
    server = EmbeddedPostgres(own_directory / "postgres")
    url = server.start()
    database = make_database(url, pool_size=1)
    try:
        assert await one(database) == 1
        monkeypatch.setattr(embedded_postgres, "_free_port", lambda: urlsplit(url).port)
        server.release()
        for _ in range(2):
            with pytest.raises(DatabaseUnavailable):
                await one(database)
        assert server.start() == url
        assert await one(database) == 1
    finally:
        server.release()
