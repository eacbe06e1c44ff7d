"""The rows that wait to be embedded: which, how many, since when, and which worker has claimed them.

A row is pending while the hash of its text differs from the hash of the text of its vectors. A partial index has only those rows,
so finding and counting them is cheap.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, NamedTuple

from psycopg.sql import SQL, Composable, Identifier, Literal

from quarry.platform.off_loop import leased
from quarry.platform.tables import EmbeddedTable
from quarry.postgres.pool import Connection, Database, Query


class Backlog(NamedTuple):
    """The number of pending rows of a table. `since` is when there were last none, or the first check; None without a check."""

    rows: int
    since: datetime.datetime | None


def pending(*, stale: bool = True) -> Composable:
    """The condition that a row is pending: it has no vectors, or with `stale` those of an older text."""
    # the first condition is the partial index's own
    changed = SQL("embedded_hash is distinct from content_hash")
    return changed if stale else SQL("{} and embedded_hash is null").format(changed)


def never_refused() -> Composable:
    """The condition that the model has not refused a row's text."""
    return SQL("refused_hash is distinct from content_hash")


def may_be_tried_again(refusals_max: int | None) -> Composable:
    """The condition that the model has refused a row's text, but fewer than `refusals_max` times."""
    refused = SQL("refused_hash = content_hash")
    return refused if refusals_max is None else SQL("{} and refusals < {}").format(refused, Literal(refusals_max))


async def count_pending(
    database: Database, table: EmbeddedTable, *, stale: bool = True, refusals_max: int | None = None
) -> int:
    """How many rows are pending: those without vectors, and with `stale` those whose text has changed.

    With `refusals_max`, texts refused that often do not count.
    """
    row = await database.row(
        SQL("select count(*) as pending from {} where {}").format(
            Identifier(table.name), _waiting(stale=stale, refusals_max=refusals_max)
        )
    )
    return int(row["pending"]) if row else 0


async def note_progress(database: Database, table: EmbeddedTable, *, refusals_max: int | None = None) -> None:
    """Record the time if no row of `table` is pending, or if nothing was recorded before."""
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
    """The backlog of each of `tables` with pending rows."""
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


LEASE_SECONDS = 30.0
RENEWAL_SECONDS = 10.0

_TAKE = """
with wanted as materialized (
  select t.id from {table} t
  where {wanted} and not t.id = any(%(excluded)s) and not exists (
    select from embedding_claims c where c.table_name = %(table)s and c.record_id = t.id and c.claimed_until > now())
  order by t.id limit {limit}
), taken as (
  insert into embedding_claims as c (table_name, record_id, claim, claimed_until)
  select %(table)s, w.id, %(claim)s, now() + make_interval(secs => %(lease)s) from wanted w order by w.id
  on conflict (table_name, record_id) do update set claim = excluded.claim, claimed_until = excluded.claimed_until
    where c.claimed_until <= now()
  returning c.record_id
)
select t.record_id as taken from wanted w left join taken t on t.record_id = w.id
"""

_RENEW = """
update embedding_claims set claimed_until = now() + make_interval(secs => %(lease)s)
where table_name = %(table)s and claim = %(claim)s
"""

_RELEASE = "delete from embedding_claims where table_name = %(table)s and claim = %(claim)s"

# A row that is being written stays pending: waiting for it while holding locks on others could deadlock.
_SETTLE = """
with own as (
  delete from embedding_claims where table_name = %(table)s and claim = %(claim)s returning record_id
), unchanged as (
  select t.id from {table} t
  join own on own.record_id = t.id
  join unnest(%(ids)s::text[], %(hashes)s::text[]) v (id, hash) on v.id = t.id and v.hash = t.content_hash
  for no key update of t skip locked
)
update {table} t set embedded_hash = t.content_hash from unchanged u where t.id = u.id returning t.id
"""


class Claim:
    """One worker's claim on rows of one table."""

    def __init__(self, database: Database, table: str) -> None:
        self._database = database
        self._table = table
        self._id = uuid.uuid4()

    async def take(
        self, connection: Connection, wanted: Composable, *, excluded: Sequence[str], limit: int
    ) -> list[str] | None:
        """Claim up to `limit` rows `t` for which `wanted` holds, in order of id, without `excluded` ones and those claimed by
        others.

        None if there are none; an empty list if other workers were faster.
        """
        statement = SQL(_TAKE).format(table=Identifier(self._table), wanted=wanted, limit=Literal(limit))
        cursor = await connection.execute(statement, self._parameters(excluded=list(excluded), lease=LEASE_SECONDS))
        rows = await cursor.fetchall()
        return [row["taken"] for row in rows if row["taken"] is not None] if rows else None

    def held(self) -> AbstractAsyncContextManager[None]:
        """Hold the claim until the end of the block, and release it if the block raises."""
        return leased(partial(self._execute, _RENEW), partial(self._execute, _RELEASE), seconds=RENEWAL_SECONDS)

    async def settle(self, connection: Connection, ids: Sequence[str], hashes: Sequence[str]) -> list[str]:
        """Release the claim and mark rows as embedded, by ids and hashes of their texts.

        Returns the ids whose vectors must be stored in the same transaction: still claimed, with unchanged text.
        """
        cursor = await connection.execute(
            SQL(_SETTLE).format(table=Identifier(self._table)), self._parameters(ids=list(ids), hashes=list(hashes))
        )
        return [row["id"] for row in await cursor.fetchall()]

    async def _execute(self, statement: Query) -> None:
        await self._database.execute(statement, self._parameters(lease=LEASE_SECONDS))

    def _parameters(self, **others: Any) -> dict[str, Any]:
        return {"table": self._table, "claim": self._id, **others}
