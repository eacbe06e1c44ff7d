"""What the tests of campaigns share: the web application over the sample campaigns, without a model and with one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row
from starlette.testclient import TestClient

from tests.conftest import client_of, create_database, model_environment
from tests.fakes.openai_server import FakeOpenAI


@pytest.fixture(scope="package")
def sample_url(server_url: str, sample_template: str) -> str:
    """A database with the sample data that these tests ask and none changes."""
    return create_database(server_url, "campaigns_sample", template=sample_template)


@pytest.fixture(scope="package")
def rows(sample_url: str) -> list[dict[str, Any]]:
    """All campaigns as they are stored."""
    with psycopg.connect(sample_url, row_factory=dict_row) as connection:
        return connection.execute("select * from campaigns").fetchall()


@pytest.fixture(scope="package")
def client(sample_url: str) -> Iterator[TestClient]:
    """The application without a chat model."""
    with client_of(sample_url) as client:
        yield client


@pytest.fixture(scope="package")
def shared_model_client(sample_url: str, shared_model: FakeOpenAI) -> Iterator[TestClient]:
    with client_of(sample_url, **model_environment(shared_model.url)) as client:
        yield client


@pytest.fixture
def model_client(shared_model_client: TestClient, model: FakeOpenAI) -> TestClient:
    """The application with a chat model that gives up after a second."""
    return shared_model_client
