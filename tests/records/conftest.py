"""What the tests of civic records share: the web application over the sample data, without a model and with one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from quarry.api import everything
from quarry.core.services import build_services
from quarry.core.settings import Settings
from quarry.core.web.app import create_app
from tests.conftest import create_database
from tests.fakes.openai_server import FakeOpenAI

KEY = "sk-very-secret"


def client_of(url: str, **environment: str) -> TestClient:
    """A client of the whole application on the database at `url`; rates are not limited unless `environment` says so."""
    settings = Settings.from_environment({"DATABASE_URL": url, "RATE_LIMIT_PER_MINUTE": "0"} | environment)
    return TestClient(
        create_app(build_services(settings), everything.ROUTERS, everything.ROUTERS), raise_server_exceptions=False
    )


@pytest.fixture(scope="package")
def shared_sample_url(server_url: str, sample_template: str) -> str:
    """A database with the sample data that many tests ask and none changes, but for stored answers and runs."""
    return create_database(server_url, "records_sample", template=sample_template)


@pytest.fixture(scope="package")
def client(shared_sample_url: str) -> Iterator[TestClient]:
    """The application over the sample data, without a chat model."""
    with client_of(shared_sample_url) as client:
        yield client


@pytest.fixture(scope="package")
def shared_model() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        yield server


@pytest.fixture
def model(shared_model: FakeOpenAI) -> FakeOpenAI:
    """The chat model of `model_client`, as new."""
    shared_model.reset()
    return shared_model


@pytest.fixture(scope="package")
def shared_model_client(shared_sample_url: str, shared_model: FakeOpenAI) -> Iterator[TestClient]:
    with client_of(shared_sample_url, **model_environment(shared_model.url)) as client:
        yield client


@pytest.fixture
def model_client(shared_model_client: TestClient, model: FakeOpenAI) -> TestClient:
    """The application over the sample data, with a chat model that gives up after a second and is not asked again."""
    return shared_model_client


def model_environment(url: str) -> dict[str, str]:
    """The settings of a service whose chat model is at `url`."""
    return {
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": url,
        "EMBEDDINGS": "local",
        "MODEL_MAX_RETRIES": "0",
        "MODEL_TIMEOUT_SECONDS": "1",
    }
