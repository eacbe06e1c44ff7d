"""A domain as a model of chat completions: what it is asked, what it says, and how it cites. Nothing here knows the wire.

A domain answers by the function `complete` of its module `agent_tools`: it takes a Chat and returns a ChatAnswer. What fails
before the first piece is known, such as a missing credit, is raised by the call.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal, TypeVar
from uuid import UUID

from quarry.platform.text import CITATION, shorten
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event, PartialTextEvent, TextWithdrawnEvent
from quarry.verification.wire import MarkedText, marked_end

TITLE_CHARACTERS_MAX = 200
DETAIL_CHARACTERS_MAX = 300

Last = TypeVar("Last", bound=Event)
DomainRequest = TypeVar("DomainRequest")

_WEB_ADDRESS = re.compile(r"https?://[^\s<>]+", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Turn:
    """An earlier message of a conversation."""

    role: Literal["user", "assistant"]
    content: str


@dataclass(frozen=True)
class Chat:
    """A question in its conversation, and who asks it. `idempotency_key` matters where an answer costs credits."""

    question: str
    before: Sequence[Turn]
    caller: Caller
    services: Services
    run_id: UUID
    request_id: str | None = None
    idempotency_key: str | None = None


@dataclass(frozen=True)
class CitedSource:
    """A source of an answer. The text refers to it as `[n]` or, without an `n`, by its title."""

    title: str
    detail: str = ""
    url: str | None = None
    n: int | None = None


@dataclass(frozen=True)
class Sources:
    """The sources that are listed under an answer."""

    heading: str
    items: Sequence[CitedSource]


ChatAnswer = AsyncGenerator[str | Sources]
"""An answer: its text in pieces, then its sources, if it has any."""


@dataclass(frozen=True)
class UrlCitation:
    """The characters of a text, from `start` to before `end`, that cite the page at `url`."""

    start: int
    end: int
    title: str
    url: str


def cited_in(text: str, items: Sequence[CitedSource]) -> list[CitedSource]:
    """The numbered sources that a text refers to."""
    numbers = {int(match[1]) for match in CITATION.finditer(text)}
    return [source for source in items if source.n in numbers]


def listing(sources: Sources) -> str:
    """The list of sources under an answer, in Markdown; empty if there are none."""
    if not sources.items:
        return ""
    lines = "\n".join(_line(source) for source in sources.items)
    return f"\n\n{sources.heading}:\n\n{lines}"


def heading(several: str, count: int, total: int) -> str:
    """The heading of a list of so many of several things."""
    return f"{several}, the first {count} of {total:,}" if total > count else several


Search = Callable[[DomainRequest, Caller, Services, str | None, UUID | None], AsyncGenerator[Event]]
"""A domain's search, as its events."""


def answering(
    request: Callable[[Chat], DomainRequest],
    search: Search[DomainRequest],
    last: type[Last],
    listed: Callable[[Last], Sources],
) -> Callable[[Chat], Awaitable[ChatAnswer]]:
    """What a domain whose search gives events answers: the text, and then the sources of the `last` event."""

    async def answer(chat: Chat) -> ChatAnswer:
        return _answer_of(search(request(chat), chat.caller, chat.services, chat.request_id, chat.run_id), last, listed)

    return answer


async def _answer_of(events: AsyncGenerator[Event], last: type[Last], listed: Callable[[Last], Sources]) -> ChatAnswer:
    """The text of a search as it comes, marked by what its `last` event says of it, then the sources of that."""
    marked = MarkedText()
    async with aclosing(events):
        async for event in events:
            if isinstance(event, PartialTextEvent):
                if text := marked.feed(event.data.text):
                    yield text
            elif isinstance(event, TextWithdrawnEvent):
                if text := marked.withdrawn(event.data.reason):
                    yield text
            elif isinstance(event, last):
                yield marked_end(marked, getattr(getattr(event, "data", None), "statements", ()))
                yield listed(event)


def citations(answer: str, sources: Sources) -> list[UrlCitation]:
    """Where an answer and its list cite web pages: at each `[n]`, at the first mention of the title, or in the list."""
    items, start = sources.items, len(answer)
    places: list[UrlCitation] = []
    numbered = {source.n: source for source in items if source.n is not None}
    for match in CITATION.finditer(answer):
        places += _citation(numbered.get(int(match[1])), match.start(), match.end())
    start += len(f"\n\n{sources.heading}:\n\n")
    for source in items:
        line = _line(source)
        if source.n is None:
            mention = re.search(rf"(?<!\w){re.escape(source.title)}(?!\w)", answer) if source.title else None
            places += _citation(source, *(mention.span() if mention else (start, start + len(line))))
        start += len(line) + 1
    return sorted(places, key=lambda citation: (citation.start, citation.end))


def _citation(source: CitedSource | None, start: int, end: int) -> list[UrlCitation]:
    url = web_address(source.url) if source else None
    return [UrlCitation(start, end, source.title, url)] if source and url else []


def web_address(url: str | None) -> str | None:
    """The address, if a browser may open it."""
    url = (url or "").strip()
    return url if _WEB_ADDRESS.fullmatch(url) else None


def _line(source: CitedSource) -> str:
    title, url = _plain(source.title, TITLE_CHARACTERS_MAX), web_address(source.url)
    if url:
        title = f"[{title}]({url.replace('(', '%28').replace(')', '%29')})"
    marker = f"[{source.n}] " if source.n is not None else ""
    detail = f": {_plain(source.detail, DETAIL_CHARACTERS_MAX)}" if source.detail else ""
    return f"- {marker}{title}{detail}"


def _plain(text: str, limit: int) -> str:
    """A text of the data on one line, with any Markdown link disabled."""
    return shorten(text, limit).replace("[", r"\[").replace("]", r"\]")
