"""What the tests of people share: the application over a small world of people, without a model and with one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import psycopg
import pytest
from starlette.testclient import TestClient

from quarry.postgres.pool import Database
from tests.conftest import client_of, clone_database, create_database
from tests.people import world
from tests.people.cards import Connection


@pytest.fixture(scope="package")
def world_template(server_url: str, migrated_template: str) -> str:
    """The name of a database that holds the small world of people, embedded."""
    world.fill(create_database(server_url, "people_world", template=migrated_template))
    return "people_world"


@pytest.fixture(scope="module")
def world_url(server_url: str, world_template: str) -> Iterator[str]:
    """The URL of a copy of the world for one module's tests: who asks is another user in each."""
    with clone_database(server_url, world_template) as url:
        yield url


@pytest.fixture(scope="module")
def url(server_url: str, migrated_template: str) -> Iterator[str]:
    """The URL of a database for one module's tests, in which there are no people but those that they add."""
    with clone_database(server_url, migrated_template) as url:
        yield url


@pytest.fixture
def connection(url: str) -> Iterator[Connection]:
    """No people."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("truncate people cascade")
        yield connection


@pytest.fixture
async def database(url: str, connection: Connection) -> AsyncIterator[Database]:
    """The same database as the service sees it, after `connection`, of which a module may have its own, has filled it."""
    database = Database(url, pool_size=1, timeout_seconds=10)
    yield database
    await database.close()


@pytest.fixture(scope="module")
def client(world_url: str) -> Iterator[TestClient]:
    """The application over the world, without a chat model."""
    with client_of(world_url) as client:
        yield client
