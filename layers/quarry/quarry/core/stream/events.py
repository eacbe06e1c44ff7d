"""Events: what a search yields, in every domain."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal

from pydantic import BaseModel, ConfigDict


class Event(BaseModel):
    """Base of all events. A subclass pins `type` to a literal; fields that are None are left out on the wire."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    type: str

    def to_json(self) -> str:
        """One line of JSON."""
        return self.model_dump_json(exclude_none=True)


class ErrorEvent(Event):
    """The last event of a stream that failed. `message` is public."""

    type: Literal["error"] = "error"
    message: str


Events = AsyncIterator[Event]
