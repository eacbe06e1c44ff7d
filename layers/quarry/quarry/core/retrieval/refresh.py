"""Counting the values of the data anew: writes add what is new, and leave what no row has any more."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from psycopg.sql import SQL, Literal

from quarry.core.postgres.migrate import connect
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


def refresh_loaded(url: str, loaded: str, searched: Iterable[SearchTable]) -> None:
    """Count the values of those searched tables that read the loaded one. Raises DatabaseUnavailable."""
    with connect(url) as connection:
        for table in searched:
            if table.reads(loaded):
                connection.execute("select refresh_facet_values(%s)", [table.name])
