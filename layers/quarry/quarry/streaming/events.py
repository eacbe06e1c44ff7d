"""The events that a search yields, in every domain."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, Literal, NamedTuple, Self
from uuid import UUID

from pydantic import ConfigDict

from quarry.language.messages import gettext_noop
from quarry.platform.contract import LazyModel


class Event(LazyModel):
    """Base of all events. A subclass pins `type` to a literal. Fields that are None are omitted on the wire."""

    model_config = ConfigDict(frozen=True)

    type: str

    def to_json(self) -> str:
        """One line of JSON."""
        return self.model_dump_json(exclude_none=True)


class ErrorEvent(Event):
    """The last event of a failed stream of server-sent events. `message` is public."""

    type: Literal["error"] = "error"
    message: str


class ErrorMessage(LazyModel):
    message: str


class EnvelopedErrorEvent(Event):
    """The last event of a failed NDJSON stream, where every event is `{type, data}`. `message` is public."""

    type: Literal["error"] = "error"
    data: ErrorMessage

    @classmethod
    def saying(cls, message: str) -> Self:
        return cls(data=ErrorMessage(message=message))


class ToolCalled(LazyModel):
    """A call of a tool by a model, or by what answers without one."""

    id: str
    tool: str
    arguments: dict[str, Any]


class ToolObserved(LazyModel):
    """What a tool found: how many rows, and a line about them for people."""

    id: str
    tool: str
    count: int
    summary: str


class ToolCallEvent(Event):
    """A tool call in an NDJSON stream."""

    type: Literal["tool_call"] = "tool_call"
    data: ToolCalled


class ToolObservationEvent(Event):
    """The result of a tool call in an NDJSON stream."""

    type: Literal["tool_observation"] = "tool_observation"
    data: ToolObserved


class PartialText(LazyModel):
    """The next piece of an answer's text. All pieces together are the whole text."""

    text: str


class PartialTextEvent(Event):
    """A piece of the answer in an NDJSON stream."""

    type: Literal["partial_text"] = "partial_text"
    data: PartialText


class Withdrawal(LazyModel):
    """Why the text so far is no part of the answer."""

    reason: str


class TextWithdrawnEvent(Event):
    """All pieces of the answer's text so far are withdrawn: they are no answer. Those that follow replace them. In an NDJSON
    stream.
    """

    type: Literal["text_withdrawn"] = "text_withdrawn"
    data: Withdrawal


Events = AsyncIterator[Event]


LATE_MESSAGE = gettext_noop("This took too long; try again, or ask for less.")
"""The last event of a stream that was stopped at its deadline."""

PLACE_PATTERN = r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/[0-9]{1,9}$"
"""The format of an event's place: RUN/SEQ."""
AFTER_SEQ = "Continue a run of yours after this event (`RUN/SEQ`), instead of asking again."
"""Describes the parameter `after_seq`."""


class StreamPosition(NamedTuple):
    """A position in a run's events: after the first `number` of them."""

    run_id: UUID
    number: int = 0

    def __str__(self) -> str:
        return f"{self.run_id}/{self.number}"

    @classmethod
    def read(cls, text: str) -> StreamPosition:
        """Parses a place in the format of PLACE_PATTERN."""
        run_id, _, number = text.partition("/")
        return cls(UUID(run_id), int(number))


class Form(NamedTuple):
    """The wire format of events. `text` formats an event's JSON with its place, `error` builds a stream's last event."""

    media_type: str
    text: Callable[[str, StreamPosition], str]
    heartbeat: bytes
    error: Callable[[str], Event]

    def encoded(self, event: str, place: StreamPosition) -> bytes:
        return self.text(event, place).encode()


# an event is an object that holds its type at least
NDJSON = Form(
    "application/x-ndjson; charset=utf-8",
    lambda event, place: f'{event[:-1]},"seq":"{place}"}}\n',
    heartbeat=b"\n",
    error=EnvelopedErrorEvent.saying,
)
"""One event a line, an error as `{type, data}`; an empty line is a heartbeat."""

SSE = Form(
    "text/event-stream; charset=utf-8",
    lambda event, place: f"id: {place}\ndata: {event}\n\n",
    heartbeat=b": still here\n\n",
    error=lambda message: ErrorEvent(message=message),
)
"""One `data:` line an event; a comment is a heartbeat."""
