"""Filling tables with many rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg

Connection = psycopg.Connection[Any]


def copy_rows(connection: Connection, target: str, rows: Iterable[Sequence[Any]]) -> None:
    """Copy `rows` into `target`: a table and its columns, "people (id, name)"."""
    with connection.cursor() as cursor, cursor.copy(f"copy {target} from stdin".encode()) as copy:
        for row in rows:
            copy.write_row(row)


@contextmanager
def index_built_afterwards(connection: Connection, name: str) -> Iterator[None]:
    """Without an index meanwhile; built at once at the end, which takes a fraction of the time."""
    row = connection.execute("select pg_get_indexdef(%s::regclass)", [name]).fetchone()
    assert row is not None
    connection.execute(f"drop index {name}".encode())
    yield
    connection.execute("set maintenance_work_mem = '1GB'")
    connection.execute(row[0].encode())
    connection.execute("reset maintenance_work_mem")
