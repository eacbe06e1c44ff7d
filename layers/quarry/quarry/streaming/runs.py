"""Streams of runs: live, and resumed where a connection was lost.

The database keeps the events of a run for ten minutes, so that any process can resume it.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import LiteralString
from uuid import UUID

from psycopg.rows import DictRow

from quarry.platform.errors import UNFORESEEN_MESSAGE, Gone, NotFound, QuarryError
from quarry.platform.tables import KEEP, ExpiringTable
from quarry.platform.telemetry import untraced
from quarry.postgres.pool import Database
from quarry.runs.run_log import ENDED_LATE
from quarry.streaming.events import LATE_MESSAGE, Event, Form, Place

EXPIRING = (ExpiringTable("run_streams", "run_streams", "started_at < now() - interval '10 minutes'"),)
# A reader that resumes polls well within five seconds. An event with something forgotten ends its run, which may hold more of
# it. A cancelled run gets no more events.
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
# the process of a run that wrote nothing for 15 seconds is gone
_READ: LiteralString = """
update run_streams set read_at = now() where run_id = %s and caller = %s
returning is_over, cancelled_at is not null as is_cancelled, written_at < now() - interval '15 seconds' as is_stale,
  started_at < now() - interval '10 minutes' as has_expired
"""


@dataclass(frozen=True)
class RunState:
    """What other processes want of a run: that it ends, or to read it."""

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
        # the state first: all events are stored before the end is
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


AHEAD = 1
"""A search runs this many events ahead of its reader, and at most one more."""
CANCELLED_MESSAGE = "This was cancelled."
LEFT_MESSAGE = "The run ended because nobody was reading it."
"""The last event of a run that was cancelled, or had no reader for too long."""


class Recording:
    """The events of one search, made in one task from beginning to end, so that it may hold timeouts over a yield. `error` makes
    the last event of one that fails.

    `events` are their JSON so far; `is_over`: no more will come; `left_at`: when the reader left, by the event loop's clock. The
    search waits for a reader that is there.
    """

    def __init__(
        self, search: AsyncGenerator[Event], error: Callable[[str], Event], *, deadline: float = math.inf
    ) -> None:
        self.events: list[str] = []
        self.is_over = False
        self.left_at = math.inf
        self._search = search
        self._error = error
        self._deadline = deadline
        self._last_words: str | None = None
        self._taken = 0
        self._room = asyncio.Event()
        self._news = asyncio.Event()
        self._making = asyncio.create_task(self._make())
        self._supervising = asyncio.create_task(self._supervise())

    async def read(self, heartbeat_seconds: float) -> AsyncGenerator[str | None]:
        """The events as they come, with None in between whenever none came for `heartbeat_seconds`. For one reader."""
        place = 0
        while True:
            while place < len(self.events):
                place += 1
                self._taken = place
                self._room.set()
                yield self.events[place - 1]
            if self.is_over:
                return
            self._news.clear()
            try:
                async with asyncio.timeout(heartbeat_seconds):
                    await self._news.wait()
            except TimeoutError:
                yield None

    def leave(self) -> None:
        """Note that the reader left: the search waits for nobody now."""
        self.left_at = asyncio.get_running_loop().time()
        self._room.set()

    async def over(self, seconds: float) -> bool:
        """Wait for the end, at most so long; whether no further events come."""
        await asyncio.wait({self._supervising}, timeout=seconds)
        return self.is_over

    async def end(self, message: str) -> None:
        """End the search where it stands, and wait until it has ended; `message` is its last event then."""
        if not self._making.done():
            self._last_words = message
            self._making.cancel()
        await asyncio.wait({self._supervising})

    async def _supervise(self) -> None:
        clock = asyncio.get_running_loop().time
        try:
            seconds = None if self._deadline == math.inf else max(0.0, self._deadline - clock())
            _, late = await asyncio.wait({self._making}, timeout=seconds)
            if late:
                logger.warning("stream ended at its deadline")
                self._last_words = LATE_MESSAGE
                self._making.cancel(ENDED_LATE)
                await asyncio.wait({self._making})
            if self._last_words is not None:
                self.events.append(self._error(self._last_words).to_json())
        finally:
            self._making.cancel()
            self.is_over = True
            self._news.set()

    async def _make(self) -> None:
        try:
            async with aclosing(self._search):
                async for event in self._search:
                    # nobody reads an event that answers a cancellation, such as an error
                    if self._last_words is not None:
                        return
                    self.events.append(event.to_json())
                    self._news.set()
                    while len(self.events) - self._taken > AHEAD and self.left_at == math.inf:
                        self._room.clear()
                        await self._room.wait()
        except QuarryError as error:
            logger.warning("stream ended in an error: %s", type(error).__name__)
            self._fail(error.public_message)
        except Exception:
            logger.exception("stream ended in an unforeseen error")
            self._fail(UNFORESEEN_MESSAGE)

    def _fail(self, message: str) -> None:
        if self._last_words is None:
            self._last_words = message


WRITE_SECONDS = 0.25
"""Events are stored this often, and at the end. The first event waits no longer for the run to be stored."""
LOOK_SECONDS = 1.0
"""A quiet run checks this often whether it was cancelled."""
LAST_WRITE_SECONDS = 2.0
"""A stream waits this long at most for its last events to be stored."""
POLL_SECONDS = 0.25
BROKEN_OFF_MESSAGE = "This broke off; ask again."
"""The last event of a run whose process is gone."""
logger = logging.getLogger(__name__)


class RunStreams:
    """The streams of one process. Without a `store` a run is heard once, and ends when its reader leaves; with one it goes on for
    `grace_seconds`, at most `unattended_max` of them at a time.
    """

    def __init__(self, store: RunStore | None = None, *, grace_seconds: float = 0.0, unattended_max: int = 0) -> None:
        self._store = store
        self._grace_seconds = grace_seconds
        self._unattended_max = unattended_max
        self._unattended: dict[asyncio.Task[None], Recording] = {}

    async def live(
        self,
        run_id: UUID,
        caller: str,
        search: AsyncGenerator[Event],
        form: Form,
        *,
        heartbeat_seconds: float,
        deadline: float = math.inf,
        domain: str | None = None,
    ) -> AsyncGenerator[bytes]:
        """The events of a search, which begins with the first of them. `deadline` is by the event loop's clock; `domain`: of
        whose records they tell; None: of any. Who has an event's place can read on behind it at once, and end the run.
        """
        recording = Recording(search, form.error, deadline=deadline)
        is_known = asyncio.Event()
        keeping = asyncio.create_task(self._keep(recording, run_id, caller, domain, is_known), context=untraced())
        number = 0
        try:
            async with aclosing(recording.read(heartbeat_seconds)) as events:
                async for event in events:
                    if event is None:
                        yield form.heartbeat
                        continue
                    number += 1
                    if number == 1:
                        with suppress(TimeoutError):
                            await asyncio.wait_for(is_known.wait(), WRITE_SECONDS)
                    yield form.encoded(event, Place(run_id, number))
            await asyncio.wait({keeping}, timeout=LAST_WRITE_SECONDS)
        finally:
            if not (recording.is_over and keeping.done()):
                await self._leave(recording, keeping)

    async def behind(
        self, place: Place, caller: str, form: Form, *, heartbeat_seconds: float, deadline: float = math.inf
    ) -> AsyncGenerator[bytes]:
        """The events behind a place, as they are stored. Raises what `check` does."""
        assert self._store is not None
        clock = asyncio.get_running_loop().time
        quiet_since = clock()
        while True:
            stored = await self._store.read(place, caller)
            for event in stored.events:
                place = Place(place.run_id, place.number + 1)
                yield form.encoded(event, place)
                quiet_since = clock()
            if stored.is_cancelled or (stored.is_stale and not stored.is_over):
                message = CANCELLED_MESSAGE if stored.is_cancelled else BROKEN_OFF_MESSAGE
                yield form.encoded(form.error(message).to_json(), Place(place.run_id, place.number + 1))
                return
            if stored.is_over or clock() >= deadline:
                return
            if clock() - quiet_since >= heartbeat_seconds:
                yield form.heartbeat
                quiet_since = clock()
            await asyncio.sleep(POLL_SECONDS)

    async def check(self, place: Place, caller: str) -> None:
        """See that a run can be read. Raises NotFound for what is no run of the caller's, and Gone after ten minutes."""
        assert self._store is not None
        await self._store.look_up(place.run_id, caller)

    async def cancel(self, run_id: UUID, caller: str) -> None:
        """Have a run end, in whatever process it goes on. Raises NotFound for what is no run of the caller's."""
        assert self._store is not None
        await self._store.cancel(run_id, caller)

    async def close(self) -> None:
        """End the runs that go on without a reader."""
        for keeping, recording in [*self._unattended.items()]:
            await recording.end(LEFT_MESSAGE)
            await asyncio.wait({keeping}, timeout=LAST_WRITE_SECONDS)
            keeping.cancel()

    async def _leave(self, recording: Recording, keeping: asyncio.Task[None]) -> None:
        recording.leave()
        may_go_on = self._grace_seconds and not keeping.done() and len(self._unattended) < self._unattended_max
        if not (recording.is_over or may_go_on):
            await recording.end(LEFT_MESSAGE)
        self._unattended[keeping] = recording
        keeping.add_done_callback(lambda task: self._unattended.pop(task, None))

    async def _keep(
        self, recording: Recording, run_id: UUID, caller: str, domain: str | None, is_known: asyncio.Event
    ) -> None:
        """Store what a run says until it is over; end it when somebody cancels it, or it has no reader any more. `is_known` is
        set once others can find it, or never will.
        """
        if self._store is None:
            is_known.set()
            return
        clock = asyncio.get_running_loop().time
        written, looked_at, is_over = 0, -math.inf, False
        while not is_over:
            is_over = await recording.over(WRITE_SECONDS if is_known.is_set() else 0)
            events = recording.events[written:]
            if not (events or is_over or clock() - looked_at >= LOOK_SECONDS):
                continue
            looked_at = clock()
            try:
                state = await self._store.write(Place(run_id, written), caller, domain, events, is_over=is_over)
            except QuarryError as error:
                logger.warning("the events of a run are not stored: %s", type(error.__cause__ or error).__name__)
                break
            finally:
                is_known.set()
            written += len(events)
            if state.is_cancelled:
                await recording.end(CANCELLED_MESSAGE)
            elif not state.is_read and looked_at - recording.left_at >= self._grace_seconds:
                await recording.end(LEFT_MESSAGE)
        if recording.left_at < math.inf:
            # events that are not stored cannot be resumed
            await recording.end(LEFT_MESSAGE)
