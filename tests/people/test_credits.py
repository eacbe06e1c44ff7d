"""Accounts and their ledger."""

from __future__ import annotations

from collections.abc import AsyncIterator

import psycopg
import pytest

from quarry.people.access import open_account, opening_balance, spend
from quarry.platform.settings import Settings
from quarry.postgres.pool import Connection, Database
from tests.people.factories import somebody

LOCAL = Settings.from_environment({})
DEPLOYED = Settings.from_environment({"AWS_LAMBDA_FUNCTION_NAME": "search"})
POOR = Settings.from_environment({"INITIAL_CREDITS": "0"})


@pytest.fixture
async def database(shared_url: str) -> AsyncIterator[Database]:
    database = Database(shared_url, pool_size=8, timeout_seconds=10)
    yield database
    await database.close()


@pytest.fixture
async def connection(database: Database) -> AsyncIterator[Connection]:
    async with database.transaction() as connection:
        yield connection


def test_the_local_user_begins_with_a_hundred_and_only_locally() -> None:
    assert [opening_balance(LOCAL, user) for user in ("demo", "ada")] == [100, 10]
    assert [opening_balance(DEPLOYED, user) for user in ("demo", "ada")] == [10, 10]
    assert opening_balance(POOR, "ada") == 0


async def test_nothing_is_booked_twice(connection: Connection) -> None:
    user = somebody()
    await open_account(connection, LOCAL, user)
    await spend(connection, user, 1, "search", "s1")
    with pytest.raises(psycopg.errors.UniqueViolation):
        async with connection.transaction():
            await spend(connection, user, 1, "search", "s1")
    assert await spend(connection, user, 1, "unlock", "s1") == 8


async def test_the_database_itself_refuses_a_negative_balance(connection: Connection) -> None:
    user = somebody()
    await open_account(connection, LOCAL, user)
    with pytest.raises(psycopg.errors.CheckViolation):
        await connection.execute("update credit_accounts set balance = balance - 11 where user_id = %s", [user])
