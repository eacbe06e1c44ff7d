"""Counting again what searches know of the data: its values and its words.

Writes count values too; counting them again corrects what concurrent writes miscounted. Words are counted only here.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, LiteralString, NamedTuple

import psycopg
from psycopg.sql import SQL
from psycopg.sql import Literal as Quoted

from quarry.platform.errors import DatabaseUnavailable
from quarry.postgres.pool import Database

_FUNCTIONS: Mapping[Literal["values", "words"], LiteralString] = {
    "values": "refresh_facet_values",
    "words": "count_lexemes",
}
_OF_ONE_TABLE = (psycopg.errors.QueryCanceled, psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected)
"""What says nothing of other tables: this one is too large for the time there is, or somebody changes it."""

logger = logging.getLogger(__name__)


class Counted(NamedTuple):
    """What is counted of a table."""

    what: Literal["values", "words"]
    table: str

    def __str__(self) -> str:
        return f"{self.what} of {self.table}"


async def refresh(
    database: Database,
    work: Iterable[Counted],
    *,
    timeout_seconds: float,
    keep_going: Callable[[], bool] = lambda: True,
) -> dict[Counted, int]:
    """Count the values, or words, of each table in turn while `keep_going` says so; each may take `timeout_seconds`.

    A table that takes longer or is locked does not stop the others; then DatabaseUnavailable names those that failed. A database
    that is away raises it at once.
    """
    counted: dict[Counted, int] = {}
    failed: dict[Counted, DatabaseUnavailable] = {}
    for each in work:
        if not keep_going():
            break
        try:
            counted[each] = await _count(database, each, timeout_seconds)
        except DatabaseUnavailable as error:
            if not isinstance(error.__cause__, _OF_ONE_TABLE):
                raise
            logger.warning("could not count the %s: %s", each, error.__cause__)
            failed[each] = error
    if failed:
        names = ", ".join(map(str, failed))
        raise DatabaseUnavailable(f"These could not be counted: {names}.") from next(iter(failed.values()))
    return counted


async def _count(database: Database, each: Counted, timeout_seconds: float) -> int:
    async with database.transaction() as connection:
        await connection.execute(SQL("set local statement_timeout = {}").format(Quoted(int(timeout_seconds * 1000))))
        cursor = await connection.execute(
            SQL("select {}(%s) as counted").format(SQL(_FUNCTIONS[each.what])), [each.table]
        )
        row = await cursor.fetchone()
        return (row["counted"] if row else None) or 0
