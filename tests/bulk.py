"""Fills tables with many rows and many vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from numpy import float32
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg.sql import SQL, Identifier

Connection = psycopg.Connection[Any]

PAGES_AT_ONCE = 10_000


def copy_rows(connection: Connection, target: str, rows: Iterable[Sequence[Any]]) -> None:
    """Copy `rows` into `target`: a table and its columns, "people (id, name)"."""
    with connection.cursor() as cursor, cursor.copy(f"copy {target} from stdin".encode()) as copy:
        for row in rows:
            copy.write_row(row)


def copy_vectors(
    connection: Connection, table: str, ids: Sequence[str], vectors: NDArray[float32], embedding_type: str | None = None
) -> None:
    """Copies the vectors of the records `ids` into a table of vectors, with `embedding_type` if the table has types."""
    typed = {} if embedding_type is None else {"embedding_type": embedding_type}
    columns = {"record_id": "text", "window_number": "int2", "embedding": "halfvec"} | dict.fromkeys(typed, "text")
    statement = SQL("copy {} ({}) from stdin (format binary)").format(
        Identifier(table), SQL(", ").join(map(Identifier, columns))
    )
    register_vector(connection)
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types([*columns.values()])
        for id, vector in zip(ids, vectors, strict=True):
            copy.write_row((id, 0, HalfVector(vector.tolist()), *typed.values()))


def mark_embedded(connection: Connection, table: str) -> None:
    """Marks all rows of a table as embedded, page by page, after removing all marks."""
    row = connection.execute(
        "select pg_relation_size(%s::regclass) / current_setting('block_size')::int", [table]
    ).fetchone()
    assert row
    for first in range(0, row[0], PAGES_AT_ONCE):
        connection.execute(
            f"update {table} set embedded_hash = content_hash"
            f" where ctid >= '({first},0)' and ctid < '({first + PAGES_AT_ONCE},0)'".encode()
        )


@contextmanager
def indexes_built_afterwards(connection: Connection, *tables: str) -> Iterator[None]:
    """Drops all indexes of `tables` except those of keys, and rebuilds them at the end, in memory. This takes a fraction of the
    time. Analyses the tables.
    """
    found = connection.execute(
        "select indexrelid::regclass::text, indrelid, pg_get_indexdef(indexrelid) from pg_index"
        " where indrelid = any(%s::regclass[]) and not indisunique",
        [list(tables)],
    ).fetchall()
    for name, *_ in found:
        connection.execute(f"drop index {name}".encode())
    yield
    for _, table, definition in found:
        # an index of vectors takes up to twice what they do, and processes that build one together reserve all that they may take
        connection.execute(
            "select set_config('maintenance_work_mem', greatest(65536, 2 * pg_table_size(%s::oid) / 1024)::text, false)",
            [table],
        )
        connection.execute(definition.encode())
    connection.execute("reset maintenance_work_mem")
    connection.execute(f"vacuum analyze {', '.join(tables)}".encode())
