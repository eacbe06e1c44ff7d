"""Counting anew what searches know of the data: its values and its words.

Writes count values too; counting them anew mends what writes at once have miscounted. Words are counted here alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, LiteralString

from psycopg.sql import SQL
from psycopg.sql import Literal as Quoted

from quarry.core.postgres.pool import Database

Counted = Literal["values", "words"]

_FUNCTIONS: Mapping[Counted, LiteralString] = {"values": "refresh_facet_values", "words": "count_lexemes"}


async def refresh(
    database: Database,
    what: Counted,
    tables: Iterable[str],
    *,
    timeout_seconds: float,
    keep_going: Callable[[], bool] = lambda: True,
) -> dict[str, int]:
    """How many values, or words, there are of each table, counted one table after the other while `keep_going` says so.

    A table may take `timeout_seconds`. Raises DatabaseUnavailable.
    """
    counted: dict[str, int] = {}
    for table in tables:
        if not keep_going():
            break
        async with database.transaction() as connection:
            await connection.execute(
                SQL("set local statement_timeout = {}").format(Quoted(int(timeout_seconds * 1000)))
            )
            cursor = await connection.execute(SQL("select {}(%s) as counted").format(SQL(_FUNCTIONS[what])), [table])
            row = await cursor.fetchone()
            counted[table] = (row["counted"] if row else None) or 0
    return counted
