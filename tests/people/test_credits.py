"""Accounts and their ledger."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quarry.people.access import balance_of, grant, latest_entries, open_account, opening_balance, spend
from quarry.platform.errors import PaymentRequired
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


async def test_a_new_user_begins_with_the_initial_credits(connection: Connection) -> None:
    user = somebody()
    assert await balance_of(connection, LOCAL, user) == 10
    assert await open_account(connection, LOCAL, user) == 10
    [entry] = await latest_entries(connection, user, 10)
    assert (entry.amount, entry.reason) == (10, "initial")


def test_the_local_user_begins_with_a_hundred_and_only_locally() -> None:
    assert [opening_balance(LOCAL, user) for user in ("demo", "ada")] == [100, 10]
    assert [opening_balance(DEPLOYED, user) for user in ("demo", "ada")] == [10, 10]
    assert opening_balance(POOR, "ada") == 0


async def test_an_account_is_opened_once_though_many_ask_at_once(database: Database) -> None:
    user = somebody()

    async def ask() -> int:
        async with database.transaction() as connection:
            return await open_account(connection, LOCAL, user)

    assert set(await asyncio.gather(*(ask() for _ in range(30)))) == {10}
    async with database.transaction() as connection:
        assert len(await latest_entries(connection, user, 10)) == 1


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


@given(amounts=st.lists(st.tuples(st.booleans(), st.integers(1, 8)), max_size=12))
@settings(max_examples=30)
def test_a_balance_is_the_sum_of_the_ledger_and_never_negative(
    shared_url: str, amounts: list[tuple[bool, int]]
) -> None:
    async def book() -> None:
        database = Database(shared_url, pool_size=1, timeout_seconds=10)
        user, expected = somebody(), 10
        async with database.transaction() as connection:
            await open_account(connection, LOCAL, user)
        for is_grant, credits in amounts:
            if is_grant:
                expected += credits
                assert await grant(database, LOCAL, user, credits) == expected
                continue
            async with database.transaction() as connection:
                if credits <= expected:
                    expected -= credits
                    assert await spend(connection, user, credits, "search", str(uuid.uuid4())) == expected
                else:
                    with pytest.raises(PaymentRequired):
                        await spend(connection, user, credits, "search", str(uuid.uuid4()))
        async with database.transaction() as connection:
            entries = await latest_entries(connection, user, 100)
            assert await balance_of(connection, LOCAL, user) == sum(entry.amount for entry in entries) == expected >= 0
        await database.close()

    asyncio.run(book())
