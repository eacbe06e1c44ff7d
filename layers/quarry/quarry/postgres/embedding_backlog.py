"""What waits to be embedded: which rows, how many, and since when.

A row is pending while the hash of its text differs from the hash that its vectors were made from; a partial index holds just
those rows, so finding and counting them costs nothing.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass

from psycopg.sql import SQL, Composable, Identifier, Literal

from quarry.platform.tables import EmbeddedTable
from quarry.postgres.pool import Database


@dataclass(frozen=True)
class Backlog:
    """The rows of a table that wait, and how long at most: since `since` nothing has, or nobody looked. None: nobody ever did."""

    rows: int
    since: datetime.datetime | None


def pending(*, stale: bool = True) -> Composable:
    """The condition that a row waits: it has no vectors, or with `stale` those of an older text."""
    # the first condition is the partial index's own
    changed = SQL("embedded_hash is distinct from content_hash")
    return changed if stale else SQL("{} and embedded_hash is null").format(changed)


def never_refused() -> Composable:
    """The condition that the model has not refused a row's text."""
    return SQL("refused_hash is distinct from content_hash")


def may_be_tried_again(refusals_max: int | None) -> Composable:
    """The condition that the model has refused a row's text, though not as often as `refusals_max` says."""
    refused = SQL("refused_hash = content_hash")
    return refused if refusals_max is None else SQL("{} and refusals < {}").format(refused, Literal(refusals_max))


async def count_pending(
    database: Database, table: EmbeddedTable, *, stale: bool = True, refusals_max: int | None = None
) -> int:
    """How many rows wait to be embedded: those without vectors, and with `stale` those whose text has changed since.

    With `refusals_max`, those whose text was refused as often do not count.
    """
    row = await database.row(
        SQL("select count(*) as pending from {} where {}").format(
            Identifier(table.name), _waiting(stale=stale, refusals_max=refusals_max)
        )
    )
    return int(row["pending"]) if row else 0


async def note_progress(database: Database, table: EmbeddedTable, *, refusals_max: int | None = None) -> None:
    """Have the database remember when nothing of `table` waits, and when it was looked at first."""
    await database.execute(
        SQL(
            "insert into embedding_progress (table_name, completed_at) values (%s, now())"
            " on conflict (table_name) do update set completed_at = excluded.completed_at"
            " where not exists (select from {} where {})"
        ).format(Identifier(table.name), _waiting(refusals_max=refusals_max)),
        [table.name],
    )


async def read_backlog(
    database: Database, tables: Iterable[EmbeddedTable], *, refusals_max: int | None = None
) -> dict[str, Backlog]:
    """What waits in each of `tables` where something does."""
    backlog: dict[str, Backlog] = {}
    for table in tables:
        if rows := await count_pending(database, table, refusals_max=refusals_max):
            noted = await database.row(
                "select completed_at from embedding_progress where table_name = %s", [table.name]
            )
            backlog[table.name] = Backlog(rows, noted["completed_at"].astimezone(datetime.UTC) if noted else None)
    return backlog


def _waiting(*, stale: bool = True, refusals_max: int | None = None) -> Composable:
    if refusals_max is None:
        return pending(stale=stale)
    return SQL("{} and ({} or {})").format(pending(stale=stale), never_refused(), may_be_tried_again(refusals_max))
