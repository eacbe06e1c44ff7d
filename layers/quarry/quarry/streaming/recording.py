"""One run while it happens: what it says is there for whoever reads it, and is kept for those who lost their connection.

A failure inside the search becomes the last event, and so does a deadline at which the search is ended. A search whose reader
left goes on for a little while, in case that the reader comes back.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from quarry.platform.errors import UNFORESEEN_MESSAGE, QuarryError
from quarry.runs.run_log import ENDED_LATE
from quarry.streaming.encoding import LATE_MESSAGE
from quarry.streaming.events import Event

AHEAD = 1
"""So many events a search is ahead of its reader, and one more at most."""

CANCELLED_MESSAGE = "This was cancelled."
LEFT_MESSAGE = "This was ended, since nobody read on."
"""What a reader is told of a run that was cancelled, or left alone for too long."""

logger = logging.getLogger(__name__)


class Recording:
    """The events of one search, made in one task of its own from beginning to end: the search may hold timeouts and cancel scopes
    over a yield. `error` makes the last event of one that fails.

    `events` are their JSON so far; `is_over`: no further ones come; `left_at` is when its reader left, by the event loop's clock.
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
                    # what answers a cancellation with an event, such as a last error, has nobody to hear it
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
