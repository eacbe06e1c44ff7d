"""Events on the wire: NDJSON and server-sent events, with a heartbeat while a search is quiet.

A failure inside a search becomes the stream's last event, and so does a deadline, by the event loop's clock, at which the
search is ended. Closing the encoded stream closes the search.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeVar

from quarry.core.errors import UNFORESEEN_MESSAGE, QuarryError
from quarry.core.stream.events import EnvelopedErrorEvent, ErrorEvent, Event

NDJSON = "application/x-ndjson; charset=utf-8"
SSE = "text/event-stream; charset=utf-8"

LATE_MESSAGE = "This took too long; try again, or ask for less."
"""What a reader is told whose stream was ended at its deadline."""

logger = logging.getLogger(__name__)

Item = TypeVar("Item")


class _End:
    """Marks the end of a queue."""


_END = _End()


def encode_ndjson(
    events: AsyncGenerator[Event], *, heartbeat_seconds: float, deadline: float = math.inf
) -> AsyncGenerator[bytes]:
    """One event a line, an error as `{type, data}`; an empty line is a heartbeat."""
    form = _Form(lambda event: event.to_json() + "\n", EnvelopedErrorEvent.saying, heartbeat=b"\n")
    return _encode(events, form, heartbeat_seconds, deadline)


def encode_sse(
    events: AsyncGenerator[Event], *, heartbeat_seconds: float, deadline: float = math.inf
) -> AsyncGenerator[bytes]:
    """One `data:` line an event; a comment is a heartbeat."""
    form = _Form(
        lambda event: f"data: {event.to_json()}\n\n",
        lambda message: ErrorEvent(message=message),
        heartbeat=b": still here\n\n",
    )
    return _encode(events, form, heartbeat_seconds, deadline)


@dataclass(frozen=True)
class _Form:
    """How events, errors and heartbeats are written on the wire."""

    text: Callable[[Event], str]
    error: Callable[[str], Event]
    heartbeat: bytes

    def line(self, event: Event) -> bytes:
        return self.text(event).encode()

    def error_line(self, message: str) -> bytes:
        return self.line(self.error(message))


async def _encode(
    events: AsyncGenerator[Event], form: _Form, heartbeat_seconds: float, deadline: float
) -> AsyncGenerator[bytes]:
    lines = _lines_ending_in_error(events, form)
    try:
        async with aclosing(with_heartbeat(lines, heartbeat_seconds, deadline)) as beating:
            async for line in beating:
                yield form.heartbeat if line is None else line
    except TimeoutError:
        logger.warning("stream ended at its deadline")
        yield form.error_line(LATE_MESSAGE)


async def _lines_ending_in_error(events: AsyncGenerator[Event], form: _Form) -> AsyncGenerator[bytes]:
    """The events encoded; an exception becomes a last `error` event with a public message, and is logged."""
    async with aclosing(events):
        try:
            async for event in events:
                yield form.line(event)
        except QuarryError as error:
            logger.warning("stream ended in an error: %s", type(error).__name__)
            yield form.error_line(error.public_message)
        except Exception:
            logger.exception("stream ended in an unforeseen error")
            yield form.error_line(UNFORESEEN_MESSAGE)


async def with_heartbeat(
    items: AsyncGenerator[Item], seconds: float, deadline: float = math.inf
) -> AsyncGenerator[Item | None]:
    """The same items, with None in between whenever none came for `seconds`. Closing this cancels `items` where it stands.

    So does the deadline, by the event loop's clock; then it raises TimeoutError.
    `items` runs in one task of its own from beginning to end, so it may hold timeouts and cancel scopes over a yield.
    """
    queue: asyncio.Queue[Item | _End] = asyncio.Queue(maxsize=1)
    closing = False

    async def pump() -> None:
        async with aclosing(items):
            async for item in items:
                # what answers a cancellation with an item, such as a last error event, must not wait for a reader
                if closing:
                    return
                await queue.put(item)

    async def pump_to_the_end() -> None:
        try:
            await pump()
        finally:
            with contextlib.suppress(asyncio.QueueFull):
                queue.put_nowait(_END)

    clock = asyncio.get_running_loop().time
    pumping = asyncio.create_task(pump_to_the_end())
    try:
        while not (pumping.done() and queue.empty()):
            if clock() >= deadline:
                raise TimeoutError
            try:
                async with asyncio.timeout_at(min(clock() + seconds, deadline)):
                    item = await queue.get()
            except TimeoutError:
                if clock() < deadline:
                    yield None
                continue
            if isinstance(item, _End):
                break
            yield item
        await pumping
    finally:
        closing = True
        pumping.cancel()
        await asyncio.wait({pumping})
