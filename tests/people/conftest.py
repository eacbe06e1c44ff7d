"""What the tests of people share: the application over a small world of people, without a model and with one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from tests.conftest import client_of, clone_database, create_database
from tests.people import world


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
def client(world_url: str) -> Iterator[TestClient]:
    """The application over the world, without a chat model."""
    with client_of(world_url) as client:
        yield client
