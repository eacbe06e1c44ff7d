"""One database with the sample data for all tests of the commands: a test that changes it puts it back."""

from collections.abc import Iterator

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from tests.conftest import create_database


@pytest.fixture(scope="package")
def sample_url(server_url: str, sample_template: str) -> Iterator[str]:
    name = "commands"
    yield create_database(server_url, name, template=sample_template)
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(SQL("drop database {} with (force)").format(Identifier(name)))
