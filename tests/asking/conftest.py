"""The help desk, served."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from tests.asking.desk import DECLARED, TABLES
from tests.collections.test_search import SERVER, filled
from tests.conftest import client_of, clone_database

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
