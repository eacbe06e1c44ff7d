"""Claims on the rows that are being embedded: two workers never embed one row at the same time, and no lock is held meanwhile.

A claim is a lease that is renewed while the model works. Where the worker died, another takes its rows over once the lease is
over, and a worker that lost its claim can store nothing.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from psycopg.sql import SQL, Composable, Identifier, Literal

from quarry.platform.errors import QuarryError
from quarry.platform.renewal import renewed
from quarry.postgres.pool import Connection, Database

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

# A row that somebody is writing is left to be embedded again: waiting for one row with the locks of others could be a deadlock.
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

logger = logging.getLogger(__name__)


class Claim:
    """One worker's claim on rows of one table."""

    def __init__(self, database: Database, table: str) -> None:
        self._database = database
        self._table = table
        self._id = uuid.uuid4()

    async def take(
        self, connection: Connection, wanted: Composable, *, excluded: Sequence[str], limit: int
    ) -> list[str] | None:
        """Claim up to `limit` rows `t` for which `wanted` holds, by id; none of `excluded`, nor what others have claimed.

        None where there are none; an empty list where others were quicker.
        """
        statement = SQL(_TAKE).format(table=Identifier(self._table), wanted=wanted, limit=Literal(limit))
        cursor = await connection.execute(statement, self._parameters(excluded=list(excluded), lease=LEASE_SECONDS))
        rows = await cursor.fetchall()
        return [row["taken"] for row in rows if row["taken"] is not None] if rows else None

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """The claim is held until the end of the block, and given up where the block raises."""
        async with renewed(self._renew, seconds=RENEWAL_SECONDS):
            try:
                yield
            except BaseException:
                await asyncio.shield(self._release())
                raise

    async def settle(self, connection: Connection, ids: Sequence[str], hashes: Sequence[str]) -> list[str]:
        """Give the claim up and note what was embedded: ids, and the hash of each one's text.

        The ids whose vectors are to be stored in the same transaction: still claimed, and still of that text.
        """
        cursor = await connection.execute(
            SQL(_SETTLE).format(table=Identifier(self._table)), self._parameters(ids=list(ids), hashes=list(hashes))
        )
        return [row["id"] for row in await cursor.fetchall()]

    async def _renew(self) -> None:
        await self._database.execute(_RENEW, self._parameters(lease=LEASE_SECONDS))

    async def _release(self) -> None:
        try:
            await self._database.execute(_RELEASE, self._parameters())
        except QuarryError as error:
            logger.warning("a claim could not be released and will lapse: %s", type(error).__name__)

    def _parameters(self, **others: Any) -> dict[str, Any]:
        return {"table": self._table, "claim": self._id, **others}
