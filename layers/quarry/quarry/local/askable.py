"""A domain as `quarry ask` sees it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pydantic import BaseModel
from rich.console import Console

from quarry.core.stream.events import EnvelopedErrorEvent, ErrorEvent

if TYPE_CHECKING:
    from quarry.client import AsyncClient

Events = AsyncGenerator[BaseModel]
"""The events of a search, or its one response."""


class View(Protocol):
    """Shows events in the terminal, one after another."""

    def show(self, event: BaseModel) -> None: ...


async def only(response: Awaitable[BaseModel]) -> Events:
    """The one response to a question, as the terminal takes a search."""
    yield await response


def error_event(message: str) -> BaseModel:
    """A stream's last event when it failed."""
    return ErrorEvent(message=message)


enveloped_error_event = EnvelopedErrorEvent.saying
"""The same, of the streams whose events hold their fields under `data`."""


@dataclass(frozen=True)
class Askable:
    """How a domain is asked: in this process, or a server by its client. `request` makes the request of a question; it raises
    pydantic's ValidationError. `view` is made for a console and the address of the server, if it is one that answers. `error` is
    the last event of a stream that failed, with this message.
    """

    request: Callable[[str], BaseModel]
    answer: Callable[..., Events]
    remote: Callable[[AsyncClient, str], AsyncIterator[BaseModel]]
    view: Callable[[Console, str | None], View]
    error: Callable[[str], BaseModel] = error_event
