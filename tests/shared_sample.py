"""Fixtures for the conftest of a package: the application over the sample data, without a chat model and with one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from tests.conftest import client_of, create_database, model_environment
from tests.fakes.openai_server import FakeOpenAI


@pytest.fixture(scope="package")
def shared_sample_url(request: pytest.FixtureRequest, server_url: str, sample_template: str) -> str:
    """A database with the sample data that the package's tests ask and none changes, but for stored answers and runs."""
    return create_database(server_url, f"sample_of_{request.node.name}", template=sample_template)


@pytest.fixture(scope="package")
def client(shared_sample_url: str) -> Iterator[TestClient]:
    """The application over the sample data, without a chat model."""
    with client_of(shared_sample_url) as client:
        yield client


@pytest.fixture(scope="package")
def shared_model_client(shared_sample_url: str, shared_model: FakeOpenAI) -> Iterator[TestClient]:
    with client_of(shared_sample_url, **model_environment(shared_model.url)) as client:
        yield client


@pytest.fixture
def model_client(shared_model_client: TestClient, model: FakeOpenAI) -> TestClient:
    """The application over the sample data, with a chat model that gives up after a few seconds and is not asked again."""
    return shared_model_client
