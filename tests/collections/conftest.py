"""Schemas of our own, of the shapes that databases have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from quarry.postgres.schema import SyncConnection
from tests.conftest import clone_database

_DIRECTORY = Path(__file__).parent / "schemas"

SCHEMAS = sorted(path.stem for path in _DIRECTORY.glob("*.sql"))


def schema_text(name: str) -> str:
    """The statements that make a schema and its rows."""
    return (_DIRECTORY / f"{name}.sql").read_text()


@pytest.fixture
def empty(server_url: str) -> Iterator[SyncConnection]:
    """A connection to a database that holds nothing."""
    with clone_database(server_url, "template0") as url, psycopg.connect(url, autocommit=True) as connection:
        yield connection


@contextmanager
def opened(server_url: str, name: str) -> Iterator[tuple[str, SyncConnection]]:
    """A database that holds one of the schemas, analysed: its URL and a connection to it."""
    with clone_database(server_url, "template0") as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(schema_text(name).encode())
            connection.execute("analyze")
            yield url, connection
