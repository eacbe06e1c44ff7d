"""A domain as a model of chat completions: what it is asked, what it says, and how it cites. Nothing here knows the wire."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal, TypeVar
from uuid import UUID

from quarry.platform.text import shorten
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event, PartialTextEvent

TITLE_CHARACTERS_MAX = 200
DETAIL_CHARACTERS_MAX = 300

Last = TypeVar("Last", bound=Event)

_MARKER = re.compile(r"\[(\d{1,4})\]")
_WEB_ADDRESS = re.compile(r"https?://[^\s<>]+", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Turn:
    """One earlier message of a conversation."""

    role: Literal["user", "assistant"]
    content: str


@dataclass(frozen=True)
class Asked:
    """A question in its conversation, and who asks. `idempotency_key` is of use where an answer costs something."""

    question: str
    before: Sequence[Turn]
    caller: Caller
    services: Services
    run_id: UUID
    request_id: str | None = None
    idempotency_key: str | None = None


@dataclass(frozen=True)
class Source:
    """What an answer rests on. The text refers to it as `[n]`, or, without an `n`, by its title if at all."""

    title: str
    detail: str = ""
    url: str | None = None
    n: int | None = None


@dataclass(frozen=True)
class Sources:
    """What is listed under an answer."""

    heading: str
    items: Sequence[Source]


Said = AsyncGenerator[str | Sources]
"""An answer: its text in pieces, and last what it rests on, where that is anything."""

Answer = Callable[[Asked], Awaitable[Said]]
"""How a domain answers. What fails before the first piece is known, such as a credit that is missing, is raised by the call."""


@dataclass(frozen=True)
class UrlCitation:
    """Characters of a text, from `start` to before `end`, that rest on what is at `url`."""

    start: int
    end: int
    title: str
    url: str


def cited_in(text: str, items: Sequence[Source]) -> list[Source]:
    """Those of the numbered sources that a text refers to."""
    numbers = {int(match[1]) for match in _MARKER.finditer(text)}
    return [source for source in items if source.n in numbers]


def listing(sources: Sources) -> str:
    """The sources as they are listed under an answer, in Markdown; nothing where there are none."""
    if not sources.items:
        return ""
    lines = "\n".join(_line(source) for source in sources.items)
    return f"\n\n{sources.heading}:\n\n{lines}"


async def told(events: AsyncGenerator[Event], last: type[Last], listed: Callable[[Last], Sources]) -> Said:
    """The text of a search as it comes, and then what its `last` event lists."""
    async with aclosing(events):
        async for event in events:
            if isinstance(event, PartialTextEvent):
                yield event.data.text
            elif isinstance(event, last):
                yield listed(event)


def citations(answer: str, sources: Sources) -> list[UrlCitation]:
    """Where an answer with its listing cites what has a web address: at each `[n]`, where it first names it, or in the list."""
    items, start = sources.items, len(answer)
    found: list[UrlCitation] = []
    numbered = {source.n: source for source in items if source.n is not None}
    for match in _MARKER.finditer(answer):
        found += _citation(numbered.get(int(match[1])), match.start(), match.end())
    start += len(f"\n\n{sources.heading}:\n\n")
    for source in items:
        line = _line(source)
        if source.n is None:
            named = re.search(rf"(?<!\w){re.escape(source.title)}(?!\w)", answer) if source.title else None
            found += _citation(source, *(named.span() if named else (start, start + len(line))))
        start += len(line) + 1
    return sorted(found, key=lambda citation: (citation.start, citation.end))


def _citation(source: Source | None, start: int, end: int) -> list[UrlCitation]:
    url = web_address(source.url) if source else None
    return [UrlCitation(start, end, source.title, url)] if source and url else []


def web_address(url: str | None) -> str | None:
    """An address that a browser may open; None for any other."""
    url = (url or "").strip()
    return url if _WEB_ADDRESS.fullmatch(url) else None


def _line(source: Source) -> str:
    title, url = _plain(source.title, TITLE_CHARACTERS_MAX), web_address(source.url)
    if url:
        title = f"[{title}]({url.replace('(', '%28').replace(')', '%29')})"
    marker = f"[{source.n}] " if source.n is not None else ""
    detail = f": {_plain(source.detail, DETAIL_CHARACTERS_MAX)}" if source.detail else ""
    return f"- {marker}{title}{detail}"


def _plain(text: str, limit: int) -> str:
    """A text of the data on one line, that makes no link of its own."""
    return shorten(text, limit).replace("[", r"\[").replace("]", r"\]")
