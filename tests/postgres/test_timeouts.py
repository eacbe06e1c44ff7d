"""The bounds of what happens in the database, on a direct connection and behind a real PgBouncer in transaction mode."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from quarry.platform.errors import DatabaseUnavailable
from quarry.postgres import pool
from quarry.postgres.pool import Database
from tests.conftest import client_of, create_database
from tests.pgbouncer import transaction_pooler

SETTINGS = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "search_path")


@pytest.fixture(scope="module")
def direct_url(server_url: str) -> str:
    """A database of the module's own, with one table."""
    url = create_database(server_url, "core_timeouts")
    with psycopg.connect(url) as connection:
        connection.execute("create schema quarry")
        connection.execute("create table counted (n int)")
        connection.execute("insert into counted values (0)")
    return url


@pytest.fixture(scope="module")
def pooled_url(direct_url: str) -> Iterator[str]:
    """The same by a pooler that has one server session for all of its clients."""
    with transaction_pooler(direct_url, pool_size=1) as url:
        yield url


@pytest.fixture(params=["direct", "pooled"])
async def database(request: pytest.FixtureRequest, direct_url: str) -> AsyncIterator[Database]:
    """The database by either way. Statements get 0.6 seconds."""
    pooled = request.param == "pooled"
    url = request.getfixturevalue("pooled_url") if pooled else direct_url
    database = Database(url, pool_size=2, timeout_seconds=0.6, pooled=pooled)
    yield database
    await database.close()


@pytest.fixture
async def operator(direct_url: str) -> AsyncIterator[psycopg.AsyncConnection]:
    """A connection past the pooler."""
    async with await psycopg.AsyncConnection.connect(direct_url, autocommit=True) as connection:
        yield connection


async def count(database: Database) -> int:
    row = await database.row("select n from counted")
    assert row is not None
    return int(row["n"])


async def test_all_bounds_hold_in_every_transaction(database: Database) -> None:
    select = SQL("select {}").format(
        SQL(", ").join(SQL("current_setting({}) as {}").format(name, Identifier(name)) for name in SETTINGS)
    )
    bounds = dict(zip(SETTINGS, ("600ms", "300ms", "600ms", "quarry, pg_temp"), strict=True))
    for _ in range(3):
        assert await database.row(select) == bounds
        async with database.transaction() as connection:
            assert await (await connection.execute(select)).fetchone() == bounds


async def test_an_idle_transaction_is_ended_and_its_locks_with_it(
    database: Database, operator: psycopg.AsyncConnection
) -> None:
    async def change_and_idle() -> None:
        async with database.transaction() as connection:
            await connection.execute("update counted set n = n + 1")
            # waits for the row until the server has ended the transaction that changed it
            await operator.execute("update counted set n = n")
            await connection.execute("select 1")

    with pytest.raises(DatabaseUnavailable):
        await change_and_idle()
    assert await count(database) == 0


async def test_who_asks_a_database_that_wakes_is_told_when_it_will_have(
    direct_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "CONNECT_TIMEOUT_SECONDS", 0.3)
    address = "postgresql://127.0.0.1:1/none"
    database = Database(lambda: address, pool_size=1, timeout_seconds=5, wake_seconds=15)
    started = time.monotonic()
    waits = []
    for _ in range(4):
        with pytest.raises(DatabaseUnavailable, match="waking") as refusal:
            await count(database)
        waits.append(refusal.value.retry_after_seconds or 0)
    assert waits == sorted(waits, reverse=True)
    assert 15 >= waits[0] > waits[-1] >= 15 - (time.monotonic() - started)
    address = direct_url
    await database.wake()
    assert await count(database) == 0
    # all connections are in use, and so it is awake
    async with database.transaction():
        with pytest.raises(DatabaseUnavailable, match="does not answer") as refusal:
            await count(database)
    assert refusal.value.retry_after_seconds == 5
    await database.close()


def test_every_domain_is_searched_through_a_pooler(sample_url: str) -> None:
    with transaction_pooler(sample_url, pool_size=2) as url, client_of(url, DATABASE_POOLED="true") as client:
        records = client.get("/records/search", params={"q": "bike lanes"})
        asked = client.get("/records/ask", params={"q": "What was decided about bike lanes?"})
        people = client.post("/people/search", json={"query": "backend developers who know Python"})
        ontology = client.post("/ontology/search", json={"query": "oven", "project_id": "riverside-bakery"})
        campaigns = client.post("/campaigns/chat", json={"message": "Which brands send emails?"})
        startups = {"messages": [{"role": "user", "content": "payment startups in Berlin"}]}
        companies = client.post("/companies/chat", json=startups)
        assert records.json()["results"]
        assert '"type":"done"' in asked.text
        assert people.json()["people"]
        assert ontology.json()["total"] > 0
        assert campaigns.status_code == 200
        assert '"final_answer"' in companies.text
        person, search_id = people.json()["people"][0]["id"], people.json()["search_id"]
        assert client.get(f"/people/{person}", params={"search_id": search_id}).status_code == 200
        assert client.get("/credits").json() == {"balance": 99}
        assert client.get("/health").json()["status"] == "ok"
    with psycopg.connect(sample_url) as connection:
        logged = connection.execute("select domain, count(*) from search_runs group by 1 order by 1").fetchall()
    assert logged == [("campaigns", 1), ("companies", 1), ("ontology", 1), ("people", 1), ("records", 2)]
