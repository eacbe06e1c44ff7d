"""Counting the values of the data anew. Writes count them too; this mends what writes at once have miscounted."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from psycopg.sql import SQL, Literal

from quarry.core.postgres.pool import Database
from quarry.core.retrieval.facets import SearchTable


async def refresh_values(
    database: Database,
    tables: Iterable[SearchTable],
    *,
    timeout_seconds: float,
    keep_going: Callable[[], bool] = lambda: True,
) -> dict[str, int]:
    """How many values there are of each table, counted one table after the other while `keep_going` says so.

    A table may take `timeout_seconds`. Raises DatabaseUnavailable.
    """
    counted: dict[str, int] = {}
    for table in tables:
        if not keep_going():
            break
        async with database.transaction() as connection:
            await connection.execute(
                SQL("set local statement_timeout = {}").format(Literal(int(timeout_seconds * 1000)))
            )
            cursor = await connection.execute("select refresh_facet_values(%s) as values", [table.name])
            row = await cursor.fetchone()
            counted[table.name] = row["values"] if row else 0
    return counted
