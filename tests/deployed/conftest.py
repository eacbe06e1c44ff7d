"""Fixtures for tests of deployed functions: the sample data as Lambda sees it, a chat model, and functions' processes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from tests.conftest import clone_database
from tests.fakes.openai_server import FakeOpenAI
from tools.rehearsal.artifacts import Artifacts, CannotRun, build
from tools.rehearsal.runtime_api import ROOT, FunctionProcess, Installation, running_function

CHECKOUT = Installation(Path(sys.executable), ROOT / "functions" / "search", (ROOT / "layers" / "quarry",))


def require_artifacts() -> Artifacts:
    """The artifacts of this checkout. Skips the test if they cannot run."""
    try:
        return build()
    except CannotRun as reason:
        pytest.skip(str(reason))


Start = Callable[..., FunctionProcess]


@pytest.fixture(scope="package")
def deployed_database_url(server_url: str, sample_template: str) -> Iterator[str]:
    """The sample data without vectors, since no layer contains their model."""
    with clone_database(server_url, sample_template) as url:
        with psycopg.connect(url) as connection:
            connection.execute("delete from embedding_model")
        yield url


@pytest.fixture(scope="package")
def deployed_model() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        yield server


@pytest.fixture
def model(deployed_model: FakeOpenAI) -> FakeOpenAI:
    """The chat model that the functions call, reset."""
    deployed_model.reset()
    return deployed_model


@pytest.fixture(scope="package")
def deployed_environment(deployed_database_url: str, deployed_model: FakeOpenAI) -> Mapping[str, str]:
    """The settings of a search function on that database and with that model."""
    return {
        "DATABASE_URL": deployed_database_url,
        "OPENAI_API_KEY": "sk-very-secret",
        "OPENAI_BASE_URL": deployed_model.url,
        "EMBEDDINGS": "local",
        "MODEL_MAX_RETRIES": "0",
        "HEARTBEAT_SECONDS": "0.2",
        "RATE_LIMIT_PER_MINUTE": "1000",
    }


@pytest.fixture
def start(deployed_environment: Mapping[str, str], tmp_path: Path) -> Iterator[Start]:
    """Starts a process of the checkout's search function with its own settings; None unsets one."""
    with ExitStack() as stack:

        def start_one(function: Path = CHECKOUT.function, **environment: str | None) -> FunctionProcess:
            settings = {**deployed_environment, **environment}
            given = {name: value for name, value in settings.items() if value is not None}
            installation = Installation(CHECKOUT.python, function, CHECKOUT.packages)
            return stack.enter_context(running_function(installation, given, tmp_path))

        yield start_one
