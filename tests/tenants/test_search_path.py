"""One connection serves tenants by turns: each transaction sees its own schema, whatever was prepared before."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from quarry.postgres.pool import Connection, Database

COUNT = "select count(*) as n from companies"


@pytest.fixture
async def database(tenants_url: str) -> AsyncIterator[Database]:
    database = Database(tenants_url, pool_size=1, timeout_seconds=10)
    yield database
    await database.close()


async def count(database: Database) -> int:
    row = await database.row(COUNT)
    assert row is not None
    return int(row["n"])


async def test_a_prepared_statement_reads_the_schema_of_each_transaction(database: Database) -> None:
    acme, globex = database.within("acme"), database.within("globex")
    for _ in range(12):  # psycopg prepares a statement that it has sent five times
        assert (await count(acme), await count(globex), await count(database)) > (0, 0, 0)
        assert (await count(globex), await count(database)) == (0, 0)


async def test_a_function_reads_the_tables_of_the_schema_that_it_is_called_in(database: Database) -> None:
    for _ in range(7):
        assert await database.within("acme").call("companies_values")
        assert not await database.within("globex").call("companies_values")


async def test_settings_of_a_caller_hold_within_the_tenant_and_do_not_replace_its_schema(database: Database) -> None:
    acting = database.within("globex").acting(
        {"search_path": "acme", "quarry.actor": "x' ; set search_path = acme; --"}
    )
    row = await acting.row("select current_schema() as schema, current_setting('quarry.actor') as actor")
    assert row == {"schema": "globex", "actor": "x' ; set search_path = acme; --"}
    assert await count(acting) == 0
    assert await count(acting.within("acme")) > 0


async def test_a_transaction_that_fails_leaves_nothing_of_its_tenant(database: Database) -> None:
    async def fail(_: Connection) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await database.within("acme").read(fail)
    row = await database.row("select current_schema() as schema")
    assert row == {"schema": "quarry"}


async def test_reserved_connections_are_in_the_tenants_schema_too(tenants_url: str) -> None:
    database = Database(tenants_url, pool_size=1, timeout_seconds=10, sets_aside=True)
    acme = database.within("acme")
    try:
        for each in (acme.reserve, acme.background, acme.probe):
            row = await each.row("select current_schema() as schema")
            assert row == {"schema": "acme"}
    finally:
        await database.close()
