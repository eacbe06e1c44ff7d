"""Two help desks: one that is declared and served, and the one of `desk_schema`, in a database that a module's tests share."""

from __future__ import annotations

import datetime
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from quarry.postgres.pool import Database
from quarry.query.execute import execute
from quarry.schema.algebra import Query, Result
from tests.collections.test_search import SERVER, filled
from tests.conftest import client_of, clone_database
from tests.query import desk_schema
from tests.query.desk import DECLARED, TABLES

TODAY = datetime.date(2026, 7, 20)

Ask = Callable[..., Awaitable[Result]]

SCOPED = DECLARED.replace(
    "[collections.tickets.facets]",
    'scope = "account_id"\nscope_setting = "app.account"\n[collections.tickets.facets]',
)
WITH_POLICIES = (
    "create role desk_server login password 'desk_server' in role quarry_serving, quarry_loading",
    "alter table desk.agents enable row level security",
    "create policy most on desk.agents using (id <> 3 or current_setting('app.account', true) = 'south')",
    "grant usage on schema desk to desk_server",
    "grant select on all tables in schema desk to desk_server",
)


@pytest.fixture(scope="module")
def desk(server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with filled(server_url, migrated_template, tmp_path_factory.mktemp("desk"), DECLARED, TABLES) as url:
        yield url


@pytest.fixture(scope="module")
def client(desk: str) -> Iterator[TestClient]:
    with client_of(desk) as client:
        yield client


@pytest.fixture(scope="module")
def tenants(server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The same for accounts that see their own tickets by a declared scope, and not all agents by the database's policies."""
    folder, statements = tmp_path_factory.mktemp("tenants"), (TABLES, *WITH_POLICIES)
    with filled(server_url, migrated_template, folder, SCOPED, *statements, role="desk_server") as url:
        with client_of(SERVER + url.partition("@")[2]) as client:
            yield client


@pytest.fixture(scope="module")
def sample_client(server_url: str, sample_template: str) -> Iterator[TestClient]:
    """The sample data of every domain."""
    with clone_database(server_url, sample_template) as url, client_of(url) as client:
        yield client


@pytest.fixture(scope="module")
def desk_url(shared_url: str) -> str:
    with psycopg.connect(shared_url, autocommit=True) as connection:
        connection.execute(desk_schema.TABLES)
    return shared_url


@pytest.fixture
async def ask(desk_url: str) -> AsyncIterator[Ask]:
    """Runs the query that the keywords make."""
    database = Database(desk_url, pool_size=1, timeout_seconds=20)

    async def run(source: str = "tickets", **query: Any) -> Result:
        return await execute(database, Query.model_validate({"source": source, **query}), desk_schema.DESK, TODAY)

    yield run
    await database.close()
