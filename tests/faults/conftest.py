"""Fixtures for tests of faults: processes that may be killed, and directories that every user can access."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import clone_database
from tests.faults.commands import Nursery
from tests.people.factories import value


@pytest.fixture(scope="session")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    nursery = Nursery(tmp_path_factory.mktemp("nursery"))
    yield nursery
    nursery.close()


@pytest.fixture(scope="session")
def make_directory(server_url: str) -> Iterator[Callable[[], Path]]:
    """Creates directories for embedded servers, with the programs of the tests' own server."""
    programs = next(Path(value(server_url, "show data_directory")).parents[1].glob("postgres-*"))
    made: list[Path] = []

    def make() -> Path:
        made.append(Path(tempfile.mkdtemp(prefix="quarry-")))
        made[-1].chmod(0o755)
        server = made[-1] / "postgres" / "server"
        server.mkdir(parents=True)
        (server / programs.name).symlink_to(programs)
        return made[-1]

    yield make
    for directory in made:
        shutil.rmtree(directory)


@pytest.fixture(scope="module")
def url(server_url: str, sample_template: str) -> Iterator[str]:
    """The URL of a database with the sample data for one module's tests; each test uses another user."""
    with clone_database(server_url, sample_template) as url:
        yield url
