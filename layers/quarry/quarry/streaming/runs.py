"""Streams of runs: as they happen, and read on from where a connection was lost."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from uuid import UUID

from quarry.platform.errors import QuarryError
from quarry.platform.tracing import untraced
from quarry.streaming.encoding import Form, Place
from quarry.streaming.events import Event
from quarry.streaming.recording import CANCELLED_MESSAGE, LEFT_MESSAGE, Recording
from quarry.streaming.run_store import RunStore

WRITE_SECONDS = 0.25
"""Events are stored so often, and at the end; the first of them waits no longer for the run itself to be stored."""
LOOK_SECONDS = 1.0
"""A run that says nothing looks so often whether it was cancelled."""
LAST_WRITE_SECONDS = 2.0
"""A stream waits no longer for its last events to be stored."""
POLL_SECONDS = 0.25

BROKEN_OFF_MESSAGE = "This broke off; ask again."
"""What a reader is told of a run whose process is gone."""

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
        """End what goes on without a reader."""
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
            # what is not stored cannot be read on
            await recording.end(LEFT_MESSAGE)
