"""One database with the sample data for all tests of the commands: a test that changes it puts it back."""

from collections.abc import Iterator

import pytest

from tests.conftest import clone_database
from tests.local.forked import forked_commands


@pytest.fixture(scope="package")
def sample_url(server_url: str, sample_template: str) -> Iterator[str]:
    with clone_database(server_url, sample_template) as url:
        yield url


@pytest.fixture(scope="package", autouse=True)
def commands_end() -> Iterator[None]:
    """End the process that forks commands, if a test has started it."""
    yield
    if forked_commands.cache_info().currsize:
        forked_commands().close()
        forked_commands.cache_clear()
