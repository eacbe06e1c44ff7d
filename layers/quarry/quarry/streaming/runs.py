"""Streams the events of runs, live or resumed after a lost connection.

The events of a run stay in the database for ten minutes, so that any process can resume it.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from typing import LiteralString, NamedTuple
from uuid import UUID

from psycopg.rows import DictRow

from quarry.language.messages import gettext, gettext_noop
from quarry.platform.errors import UNFORESEEN_MESSAGE, Gone, NotFound, QuarryError
from quarry.platform.tables import KEEP, ExpiringTable
from quarry.platform.telemetry import untraced
from quarry.postgres.pool import Database
from quarry.runs.run_log import ENDED_LATE
from quarry.streaming.events import LATE_MESSAGE, Event, Form, StreamPosition

EXPIRING = (ExpiringTable("run_streams", "run_streams", "started_at < now() - interval '10 minutes'"),)
# A reader asks again well within five seconds. An event that quotes a forgotten record ends its run, which may quote more of it.
# A cancelled run stores no more events.
_WRITE: LiteralString = """
with given as (
  select exists (
    select from unnest(%(events)s::text[]) e (event) where holds_forgotten(e.event::jsonb, %(domain)s)) as is_forgotten
), stream as (
  insert into run_streams as s (run_id, caller, domain, is_over, cancelled_at)
  select %(run)s, %(caller)s, %(domain)s, %(is_over)s, case when given.is_forgotten then now() end from given
  on conflict (run_id) do update set written_at = excluded.written_at, is_over = excluded.is_over,
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
# a run without a write for 15 seconds has lost its process
_READ_EVENTS: LiteralString = """
update run_streams set read_at = now() where run_id = %s and caller = %s
returning is_over, cancelled_at is not null as is_cancelled, written_at < now() - interval '15 seconds' as is_stale,
  started_at < now() - interval '10 minutes' as has_expired
"""


class RunState(NamedTuple):
    """What other processes want of a run: that it ends, or to read its events."""

    is_cancelled: bool
    is_read: bool


class StoredEvents(NamedTuple):
    """Events after a place. `is_over`: no more will follow; `is_stale`: the process of the run is gone."""

    events: Sequence[str]
    is_over: bool
    is_stale: bool
    is_cancelled: bool


class RunStore:
    """The tables `run_streams` and `run_events`. Every method raises DatabaseUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def write(
        self, behind: StreamPosition, caller: str, domain: str | None, events: Sequence[str], *, is_over: bool
    ) -> RunState:
        """Appends events to a run, and records that it continues, or `is_over`. `domain`: whose records they quote; None: any.

        A cancelled run gets no more events. A run whose events quote a record forgotten just now is cancelled and loses all of
        them.
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
        """Returns the state of a run (`is_over`, `is_stale`, `is_cancelled`), and records that it is being read.

        Raises NotFound if the caller has no such run, and Gone after ten minutes.
        """
        run = await self._database.row(_READ_EVENTS, [run_id, caller])
        if run is None:
            raise NotFound(gettext_noop("There is no such run, or it is not yours; ask the question again."))
        if run["has_expired"]:
            raise Gone(gettext_noop("This run can be read for ten minutes; ask the question again."))
        return run

    async def read(self, behind: StreamPosition, caller: str) -> StoredEvents:
        """Returns the events after a place, so far. Raises as `look_up` does."""
        # read the state first: once it says the end, all events are stored
        run = await self.look_up(behind.run_id, caller)
        rows = await self._database.rows(
            "select event from run_events where run_id = %s and number > %s order by number",
            [behind.run_id, behind.number],
        )
        return StoredEvents([row["event"] for row in rows], run["is_over"], run["is_stale"], run["is_cancelled"])

    async def cancel(self, run_id: UUID, caller: str) -> None:
        """Cancels a run that has not ended yet. Raises NotFound if the caller has no such run."""
        if not await self._database.execute(
            """update run_streams set cancelled_at = case when is_over then cancelled_at else coalesce(cancelled_at, now()) end
               where run_id = %s and caller = %s""",
            [run_id, caller],
        ):
            raise NotFound(gettext_noop("There is no such run, or it is not yours."))


AHEAD = 1
"""How many events a search may be ahead of its reader, plus at most one."""
CANCELLED_MESSAGE = gettext_noop("This was cancelled.")
NO_READER_MESSAGE = gettext_noop("The run ended because nobody was reading it.")
"""The last event of a run that was cancelled, or had no reader for too long."""


class Recording:
    """The events of one search. One task produces them all, so the search can hold timeouts across a yield. `error` makes the
    last event if it fails.

    `events` are their JSON so far; `is_over`: no more will come; `left_at`: when the reader left, by the event loop's clock.
    While there is a reader, the search waits for it.
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
        self._read_until = 0
        self._room = asyncio.Event()
        self._news = asyncio.Event()
        self._making = asyncio.create_task(self._make())
        self._supervising = asyncio.create_task(self._supervise())

    async def read(self, heartbeat_seconds: float) -> AsyncGenerator[str | None]:
        """Yields the events as they come, and None whenever none came for `heartbeat_seconds`. For a single reader."""
        place = 0
        while True:
            while place < len(self.events):
                place += 1
                self._read_until = place
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
        """Records that the reader left, so the search no longer waits."""
        self.left_at = asyncio.get_running_loop().time()
        self._room.set()

    async def over(self, seconds: float) -> bool:
        """Waits for the end, at most `seconds`. Returns whether no more events will come."""
        await asyncio.wait({self._supervising}, timeout=seconds)
        return self.is_over

    async def end(self, message: str) -> None:
        """Stops the search and waits until it has stopped. `message` is then its last event."""
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
                self.events.append(self._error(gettext(self._last_words)).to_json())
        finally:
            self._making.cancel()
            self.is_over = True
            self._news.set()

    async def _make(self) -> None:
        try:
            async with aclosing(self._search):
                async for event in self._search:
                    # an event yielded in answer to a cancellation, such as a last error, has no reader
                    if self._last_words is not None:
                        return
                    self.events.append(event.to_json())
                    self._news.set()
                    while len(self.events) - self._read_until > AHEAD and self.left_at == math.inf:
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
"""The interval at which events are stored; the rest at the end. The first waits at most this long for the run to be stored."""
LOOK_SECONDS = 1.0
"""The interval at which a run without new events checks whether it was cancelled."""
LAST_WRITE_SECONDS = 2.0
"""The longest time that a stream waits for its last events to be stored."""
POLL_SECONDS = 0.25
BROKEN_OFF_MESSAGE = gettext_noop("This broke off; ask again.")
"""The last event of a run whose process is gone."""
logger = logging.getLogger(__name__)


class RunStreams:
    """The streams of one process. Without a `store`, a run has one reader and ends when the reader leaves. With a store, it
    goes on for `grace_seconds`, at most `unattended_max` runs at a time.
    """

    def __init__(self, store: RunStore | None = None, *, grace_seconds: float = 0.0, unattended_max: int = 0) -> None:
        self._store = store
        self._grace_seconds = grace_seconds
        self._unattended_max = unattended_max
        self._unattended: dict[asyncio.Task[None], Recording] = {}

    def on(self, store: RunStore) -> RunStreams:
        """The streams of another store. They share one limit of runs without a reader, and one end."""
        streams = RunStreams(store, grace_seconds=self._grace_seconds, unattended_max=self._unattended_max)
        streams._unattended = self._unattended
        return streams

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
        """Yields the events of a search, which starts with the first. `deadline` is by the event loop's clock; `domain` is the
        domain whose records they quote; None: any. An event's place lets a client resume after it at once, and cancel the run.
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
                    yield form.encoded(event, StreamPosition(run_id, number))
            await asyncio.wait({keeping}, timeout=LAST_WRITE_SECONDS)
        finally:
            if not (recording.is_over and keeping.done()):
                await self._leave(recording, keeping)

    async def behind(
        self, place: StreamPosition, caller: str, form: Form, *, heartbeat_seconds: float, deadline: float = math.inf
    ) -> AsyncGenerator[bytes]:
        """Yields the events after a place, as they are stored. Raises as `check` does."""
        assert self._store is not None
        clock = asyncio.get_running_loop().time
        quiet_since = clock()
        while True:
            stored = await self._store.read(place, caller)
            for event in stored.events:
                place = StreamPosition(place.run_id, place.number + 1)
                yield form.encoded(event, place)
                quiet_since = clock()
            if stored.is_cancelled or (stored.is_stale and not stored.is_over):
                message = CANCELLED_MESSAGE if stored.is_cancelled else BROKEN_OFF_MESSAGE
                yield form.encoded(form.error(message).to_json(), StreamPosition(place.run_id, place.number + 1))
                return
            if stored.is_over or clock() >= deadline:
                return
            if clock() - quiet_since >= heartbeat_seconds:
                yield form.heartbeat
                quiet_since = clock()
            await asyncio.sleep(POLL_SECONDS)

    async def check(self, place: StreamPosition, caller: str) -> None:
        """Checks that a run can be read. Raises NotFound if the caller has no such run, and Gone after ten minutes."""
        assert self._store is not None
        await self._store.look_up(place.run_id, caller)

    async def cancel(self, run_id: UUID, caller: str) -> None:
        """Cancels a run, whichever process it is in. Raises NotFound if the caller has no such run."""
        assert self._store is not None
        await self._store.cancel(run_id, caller)

    async def close(self) -> None:
        """Ends the runs that have no reader."""
        for keeping, recording in [*self._unattended.items()]:
            await recording.end(NO_READER_MESSAGE)
            await asyncio.wait({keeping}, timeout=LAST_WRITE_SECONDS)
            keeping.cancel()

    async def _leave(self, recording: Recording, keeping: asyncio.Task[None]) -> None:
        recording.leave()
        may_go_on = self._grace_seconds and not keeping.done() and len(self._unattended) < self._unattended_max
        if not (recording.is_over or may_go_on):
            await recording.end(NO_READER_MESSAGE)
        self._unattended[keeping] = recording
        keeping.add_done_callback(lambda task: self._unattended.pop(task, None))

    async def _keep(
        self, recording: Recording, run_id: UUID, caller: str, domain: str | None, is_known: asyncio.Event
    ) -> None:
        """Stores the events of a run until it is over; ends it if it is cancelled or has had no reader for too long. Sets
        `is_known` once others can find the run, or never will.
        """
        if self._store is None:
            is_known.set()
            return
        clock = asyncio.get_running_loop().time
        stored, looked_at, is_over = 0, -math.inf, False
        while not is_over:
            is_over = await recording.over(WRITE_SECONDS if is_known.is_set() else 0)
            events = recording.events[stored:]
            if not (events or is_over or clock() - looked_at >= LOOK_SECONDS):
                continue
            looked_at = clock()
            try:
                state = await self._store.write(StreamPosition(run_id, stored), caller, domain, events, is_over=is_over)
            except QuarryError as error:
                logger.warning("the events of a run are not stored: %s", type(error.__cause__ or error).__name__)
                break
            finally:
                is_known.set()
            stored += len(events)
            if state.is_cancelled:
                await recording.end(CANCELLED_MESSAGE)
            elif not state.is_read and looked_at - recording.left_at >= self._grace_seconds:
                await recording.end(NO_READER_MESSAGE)
        if recording.left_at < math.inf:
            # a run that is not stored cannot be resumed
            await recording.end(NO_READER_MESSAGE)
