"""The events of runs, stored in the database, so that any process can continue a lost stream for ten minutes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import LiteralString
from uuid import UUID

from psycopg.rows import DictRow

from quarry.platform.errors import Gone, NotFound
from quarry.platform.tables import KEEP
from quarry.postgres.pool import Database
from quarry.runs.cleanup import ExpiringTable
from quarry.streaming.events import Place

EXPIRING = (ExpiringTable("run_streams", "run_streams", "started_at < now() - interval '10 minutes'"),)

# Who reads on asks again well within five seconds. What holds something forgotten ends its run, which may hold more of it; of a
# run that is cancelled nothing more is kept.
_WRITE: LiteralString = """
with given as (
  select exists (
    select from unnest(%(events)s::text[]) e (event) where holds_forgotten(e.event::jsonb, %(domain)s)) as is_forgotten
), stream as (
  insert into run_streams as s (run_id, caller, domain, is_over, cancelled_at)
  select %(run)s, %(caller)s, %(domain)s, %(is_over)s, case when given.is_forgotten then now() end from given
  on conflict (run_id) do update set written_at = now(), is_over = excluded.is_over,
    cancelled_at = coalesce(s.cancelled_at, excluded.cancelled_at)
  returning s.cancelled_at is not null as is_cancelled, coalesce(s.read_at > now() - interval '5 seconds', false) as is_read
), forgotten as (
  delete from run_events where run_id = %(run)s and (select is_forgotten from given)
), events as (
  insert into run_events (run_id, number, event)
  select %(run)s, %(behind)s + e.number, e.event
  from stream, unnest(%(events)s::text[]) with ordinality e (event, number) where not stream.is_cancelled
)
select * from stream
"""

# a run that was not heard of for 15 seconds has ended without a word: its process is gone
_READ: LiteralString = """
update run_streams set read_at = now() where run_id = %s and caller = %s
returning is_over, cancelled_at is not null as is_cancelled, written_at < now() - interval '15 seconds' as is_stale,
  started_at < now() - interval '10 minutes' as has_expired
"""


@dataclass(frozen=True)
class RunState:
    """What others want of a run: that it ends, or to read on."""

    is_cancelled: bool
    is_read: bool


@dataclass(frozen=True)
class StoredEvents:
    """Events behind a place. `is_over`: no further ones come; `is_stale`: nor were they all; `is_cancelled`: nor will they be."""

    events: Sequence[str]
    is_over: bool
    is_stale: bool
    is_cancelled: bool


class RunStore:
    """The tables `run_streams` and `run_events`. Every method raises DatabaseUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def write(
        self, behind: Place, caller: str, domain: str | None, events: Sequence[str], *, is_over: bool
    ) -> RunState:
        """Add events to a run, and say that it goes on, or `is_over`. `domain`: of whose records they tell; None: of any.

        Of a run that is cancelled nothing is added. One whose events hold what was just forgotten is, and keeps none of them.
        """
        values = {
            "run": behind.run_id,
            "caller": caller,
            "domain": domain,
            "behind": behind.number,
            "events": events,
            "is_over": is_over,
        }
        async with self._database.transaction() as connection:
            await connection.execute(KEEP)
            row = await (await connection.execute(_WRITE, values)).fetchone()
        assert row is not None
        return RunState(**row)

    async def look_up(self, run_id: UUID, caller: str) -> DictRow:
        """How a run stands (`is_over`, `is_stale`, `is_cancelled`), noting that it is read.

        Raises NotFound for what is no run of the caller's, and Gone after ten minutes.
        """
        run = await self._database.row(_READ, [run_id, caller])
        if run is None:
            raise NotFound("There is no such run, or it is not yours; ask the question again.")
        if run["has_expired"]:
            raise Gone("This run can be read for ten minutes; ask the question again.")
        return run

    async def read(self, behind: Place, caller: str) -> StoredEvents:
        """The events behind a place, so far. Raises what `look_up` does."""
        # the state first: whatever was said before the end is there when the end is
        run = await self.look_up(behind.run_id, caller)
        rows = await self._database.rows(
            "select event from run_events where run_id = %s and number > %s order by number",
            [behind.run_id, behind.number],
        )
        return StoredEvents([row["event"] for row in rows], run["is_over"], run["is_stale"], run["is_cancelled"])

    async def cancel(self, run_id: UUID, caller: str) -> None:
        """Have a run end, if it still goes on. Raises NotFound for what is no run of the caller's."""
        if not await self._database.execute(
            """update run_streams set cancelled_at = case when is_over then cancelled_at else coalesce(cancelled_at, now()) end
               where run_id = %s and caller = %s""",
            [run_id, caller],
        ):
            raise NotFound("There is no such run, or it is not yours.")
