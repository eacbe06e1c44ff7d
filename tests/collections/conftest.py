"""Schemas of our own, of the shapes that databases have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from quarry.core.postgres.schema import SyncConnection
from tests.conftest import clone_database

_DIRECTORY = Path(__file__).parent / "schemas"

SCHEMAS = sorted(path.stem for path in _DIRECTORY.glob("*.sql"))


@contextmanager
def opened(server_url: str, name: str) -> Iterator[tuple[str, SyncConnection]]:
    """A database that holds one of the schemas, analysed: its URL and a connection to it."""
    with clone_database(server_url, "template0") as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute((_DIRECTORY / f"{name}.sql").read_text().encode())
            connection.execute("analyze")
            yield url, connection
