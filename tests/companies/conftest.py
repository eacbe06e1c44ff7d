"""What the tests of companies share: databases for their SQL."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg.rows import namedtuple_row

from tests.companies.seeded import Connection, seed
from tests.conftest import create_database
from tools.benchmarks.literal_companies import LITERAL


@pytest.fixture(scope="package")
def empty_companies(server_url: str, migrated_template: str) -> Iterator[Connection]:
    """A database without companies, with the literal functions beside ours; see `connection`."""
    url = create_database(server_url, "companies_empty", template=migrated_template)
    with psycopg.connect(url, autocommit=True, row_factory=namedtuple_row) as connection:
        connection.execute(LITERAL.encode())
        yield connection


@pytest.fixture
def connection(empty_companies: Connection) -> Iterator[Connection]:
    """A database without companies; what a test puts in is gone after it."""
    with empty_companies.transaction(force_rollback=True):
        yield empty_companies


@pytest.fixture(scope="package")
def seeded_url(server_url: str, migrated_template: str) -> str:
    """The URL of a database with the seeded companies. Only read."""
    url = create_database(server_url, "companies_seeded", template=migrated_template)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(LITERAL.encode())
        seed(connection)
    return url


@pytest.fixture(scope="package")
def seeded(seeded_url: str) -> Iterator[Connection]:
    """The seeded companies; see tests/companies/seeded.py."""
    with psycopg.connect(seeded_url, autocommit=True, row_factory=namedtuple_row) as connection:
        yield connection


@pytest.fixture
def indexed(seeded: Connection) -> Iterator[Connection]:
    """Reading and sorting all is cheapest among so few rows; an index that serves is taken all the same."""
    settings = ("enable_seqscan", "enable_sort")
    for name in settings:
        seeded.execute("select set_config(%s, 'off', false)", [name])
    seeded.execute("discard plans")
    yield seeded
    seeded.execute("reset all")
    seeded.execute("discard plans")
