"""Events: what a search yields, in every domain."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal, Self

from pydantic import ConfigDict

from quarry.platform.lazy_model import LazyModel


class Event(LazyModel):
    """Base of all events. A subclass pins `type` to a literal; fields that are None are left out on the wire."""

    model_config = ConfigDict(frozen=True)

    type: str

    def to_json(self) -> str:
        """One line of JSON."""
        return self.model_dump_json(exclude_none=True)


class ErrorEvent(Event):
    """The last event of a stream of server-sent events that failed. `message` is public."""

    type: Literal["error"] = "error"
    message: str


class ErrorMessage(LazyModel):
    message: str


class EnvelopedErrorEvent(Event):
    """The last event of an NDJSON stream that failed: there every event is `{type, data}`. `message` is public."""

    type: Literal["error"] = "error"
    data: ErrorMessage

    @classmethod
    def saying(cls, message: str) -> Self:
        return cls(data=ErrorMessage(message=message))


class PartialText(LazyModel):
    """The next piece of an answer's text; the pieces add up to the whole."""

    text: str


class PartialTextEvent(Event):
    """A piece of the answer in an NDJSON stream."""

    type: Literal["partial_text"] = "partial_text"
    data: PartialText


Events = AsyncIterator[Event]
