"""A domain as `quarry ask` sees it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel
from rich.console import Console

from quarry.core.stream.events import EnvelopedErrorEvent, ErrorEvent

Events = AsyncGenerator[BaseModel]
"""The events of a search, or its one response."""


class View(Protocol):
    """Shows events in the terminal, one after another."""

    def show(self, event: BaseModel) -> None: ...


def error_event(message: str) -> BaseModel:
    """A stream's last event when it failed."""
    return ErrorEvent(message=message)


enveloped_error_event = EnvelopedErrorEvent.saying
"""The same, of the streams whose events hold their fields under `data`."""


@dataclass(frozen=True)
class Askable:
    """How a domain is asked. `request` makes the request of a question; it raises pydantic's ValidationError. `error` is the last
    event of a stream that failed, with this message.
    """

    request: Callable[[str], BaseModel]
    answer: Callable[..., Events]
    view: Callable[[Console], View]
    error: Callable[[str], BaseModel] = error_event
