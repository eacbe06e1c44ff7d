"""Streams of events, which resume after a lost connection."""

from __future__ import annotations

import dataclasses
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from pydantic import BaseModel, ValidationError

from quarry.client.errors import ConnectionFailed, Gone, NotFound, QuarryError, SearchFailed, UnexpectedAnswer
from quarry.client.exchange import Answer, Call, EventTypes, Exchange
from quarry.streaming.events import SSE, Form

E = TypeVar("E", bound=BaseModel)
T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class WireEvent:
    """An event on the wire: its place (RUN/SEQ), its type and its JSON."""

    place: str | None
    type: str
    json: bytes


class EventReader:
    """Reads events from the bytes of a stream, in chunks of any size. Incomplete events are held back."""

    def __init__(self, form: Form) -> None:
        self._is_sse = form is SSE
        self._rest = b""
        self._id: str | None = None
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[WireEvent]:
        """The events that are complete now. Raises UnexpectedAnswer."""
        # by bytes: texts may contain other line ends of Unicode
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        parse = self._sse_line if self._is_sse else self._json_line
        return [event for line in lines if (event := parse(line.removesuffix(b"\r"))) is not None]

    def _json_line(self, line: bytes) -> WireEvent | None:
        return _event(line, None) if line else None

    def _sse_line(self, line: bytes) -> WireEvent | None:
        if not line:
            data, self._data = b"\n".join(self._data), []
            return _event(data, self._id) if data else None
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"id":
            self._id = value.decode()
        return None


def _event(text: bytes, place: str | None) -> WireEvent:
    try:
        fields = json.loads(text)
        return WireEvent(place or fields.get("seq"), fields["type"], text)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnexpectedAnswer("The server's stream has a line that is not an event.") from error


class Reading(Generic[E]):
    """One stream from beginning to end, over as many connections as it takes.

    `place` is that of the last event returned. If the connection is lost before any event came, the request is sent again.
    """

    def __init__(self, exchange: Exchange, call: Call, events: EventTypes[E]) -> None:
        self.place: str | None = None
        self._exchange, self._call, self._events = exchange, call, events
        self._waiting: deque[WireEvent] = deque()
        self._answer: Answer | None = None
        self._reader = EventReader(events.form)
        self._failures = 0
        self._is_over = False

    async def next(self) -> E | None:
        """The next event; None after the last. Raises QuarryError."""
        while not self._is_over:
            try:
                if (event := await self._next_event()) is not None:
                    return event
            except BaseException:
                await self.close()
                raise
        return None

    async def close(self) -> None:
        """Stop reading. The server ends the search a little later."""
        self._is_over = True
        await self._drop()

    async def _next_event(self) -> E | None:
        """The next event; None if it is incomplete, or of a type that this version does not know."""
        if not self._waiting:
            await self._read_on()
            return None
        event = self._waiting.popleft()
        self.place = event.place
        self._failures = 0
        if event.type == "error":
            raise SearchFailed(_message(event))
        if event.type == self._events.last:
            await self.close()
        model = self._events.by_type.get(event.type)
        if model is None:
            return None
        try:
            return model.model_validate_json(event.json)
        except ValidationError as error:
            raise UnexpectedAnswer(f"An event of type {event.type!r} is unknown to this version.") from error

    async def _read_on(self) -> None:
        try:
            if self._answer is None:
                query = self._call.query if self.place is None else {**self._call.query, "after_seq": self.place}
                self._answer = await self._exchange.open(dataclasses.replace(self._call, query=query))
            chunk = await self._answer.next_chunk()
            if not chunk:
                raise ConnectionFailed("The stream ended before its last event.", was_sent=True)
        except ConnectionFailed as error:
            if self._answer is None:  # already retried
                raise
            await self._lost(error)
        except (NotFound, Gone) as error:
            if self.place is None:
                raise
            # the last events may be stored a moment later
            await self._lost(error)
        else:
            self._waiting.extend(self._reader.feed(chunk))

    async def _lost(self, error: QuarryError) -> None:
        await self._drop()
        self._failures += 1
        if self._failures > self._exchange.patience.retries:
            message = "The connection was lost, and the rest of the stream could not be read."
            raise ConnectionFailed(message, was_sent=True) from error
        await self._exchange.door.pause(self._exchange.patience.own_pause(self._failures))

    async def _drop(self) -> None:
        answer, self._answer = self._answer, None
        self._waiting.clear()
        self._reader = EventReader(self._events.form)
        if answer is not None:
            await answer.close()


def _message(event: WireEvent) -> str:
    body = json.loads(event.json)
    holder = body if "message" in body else body.get("data")
    return str(holder.get("message")) if isinstance(holder, dict) else "The search failed."


class _Stream(Generic[E]):
    """What both kinds of stream share."""

    def __init__(self, reading: Reading[E]) -> None:
        self._reading = reading

    @property
    def place(self) -> str | None:
        """The place of the last event, as RUN/SEQ; None before the first."""
        return self._reading.place

    @property
    def run_id(self) -> str | None:
        """The run, for `cancel_run` and `give_feedback`; None before the first event."""
        return self.place.partition("/")[0] if self.place else None


class Stream(_Stream[E], Iterator[E]):
    """The events of a search, to iterate over once. The request is sent for the first event; the stream closes after the last
    one, by `with`, or by `close()`.
    """

    def __init__(self, reading: Reading[E], run: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        super().__init__(reading)
        self._run = run

    def __next__(self) -> E:
        event: E | None = self._run(self._reading.next())
        if event is None:
            raise StopIteration
        return event

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop reading; the server ends the search soon after. `cancel_run` ends it at once."""
        self._run(self._reading.close())


class AsyncStream(_Stream[E], AsyncIterator[E]):
    """The same, for `async for` and `async with`."""

    async def __anext__(self) -> E:
        event = await self._reading.next()
        if event is None:
            raise StopAsyncIteration
        return event

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Stop reading; the server ends the search soon after. `cancel_run` ends it at once."""
        await self._reading.close()
