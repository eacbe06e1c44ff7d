"""A domain as `quarry ask` sees it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from pydantic import BaseModel
from rich.console import Console
from rich.text import Text

from quarry.local.terminal import MarkdownWriter, printable
from quarry.streaming.events import ErrorEvent

if TYPE_CHECKING:
    from quarry.client import AsyncClient
    from quarry.services.services import Caller, Services

Events = AsyncGenerator[BaseModel]
"""The events of a search, or its one response."""


class View(ABC):
    """Shows events in the terminal, one after another: those of this machine, or of a `server`."""

    def __init__(self, console: Console, server: str | None = None) -> None:
        self._console, self._server = console, server
        self.page = server
        """Where the page is served, for links to it."""
        self._answer: MarkdownWriter | None = None

    @abstractmethod
    def show(self, event: BaseModel) -> None: ...

    def _line(self, text: str, style: str = "") -> None:
        """A line of text that may come from anywhere."""
        self._console.print(Text(printable(text), style))

    def _tool_call(self, tool: str, arguments: Mapping[str, object]) -> None:
        """A tool, and the arguments it is called with."""
        given = ", ".join(f"{name}: {_short(value)}" for name, value in arguments.items())
        self._line(f"{tool.replace('_', ' ')}: {given or 'everything'}", "dim")

    def _write(self, piece: str) -> None:
        """The next piece of the answer."""
        if self._answer is None:
            self._console.print()
            self._answer = MarkdownWriter(self._console)
        self._answer.feed(piece)

    def _end_answer(self) -> None:
        if self._answer is not None:
            self._answer.finish()
            self._answer = None

    def _ask_next(self, questions: Sequence[str]) -> None:
        if questions:
            self._console.print()
            self._line("Ask next", "bold")
            for question in questions:
                self._line(f"• {question}")

    def _tell_degraded(self, steps: Sequence[str]) -> None:
        if steps:
            self._line(f"Degraded: {', '.join(steps)}", "yellow")


def _short(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


async def events_of(told: AsyncIterator[BaseModel] | Awaitable[BaseModel]) -> Events:
    """The events of a search, or its one response, as the terminal takes a search."""
    if isinstance(told, Awaitable):
        yield await told
        return
    try:
        async for event in told:
            yield event
    finally:
        if close := getattr(told, "aclose", None):
            await close()


@dataclass(frozen=True)
class Askable:
    """How a domain is asked: in this process by `answer`, a module and a function of it, which is imported when it is asked, or
    a server by its client. `request` makes the request of a question; it raises pydantic's ValidationError. `view` is made for a
    console and the address of the server, if it is one that answers. `error` is the last event of a stream that failed.
    """

    request: Callable[[str], BaseModel]
    answer: tuple[str, str]
    remote: Callable[[AsyncClient, str], AsyncIterator[BaseModel] | Awaitable[BaseModel]]
    view: Callable[[Console, str | None], View]
    error: Callable[[str], BaseModel] = lambda message: ErrorEvent(message=message)

    def answered(self, request: BaseModel, caller: Caller, services: Services) -> Events:
        """The events of a search in this process."""
        module, function = self.answer
        return events_of(getattr(import_module(module), function)(request, caller, services))
