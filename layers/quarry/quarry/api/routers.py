"""The routes of each function, which imports only what it serves, and of all of them, which a local server serves together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from fastapi import APIRouter

from quarry.domains import import_what_answers, module
from quarry.platform.contract import DOMAINS


@dataclass(frozen=True)
class Routers(Iterable[APIRouter]):
    """The routers of `modules`, by folder and name, which are imported on iteration."""

    modules: tuple[tuple[str, str], ...]

    def __iter__(self) -> Iterator[APIRouter]:
        for folder, name in self.modules:
            yield module(folder, name).router


_SERVICE = ("web", "service_routes")
_SEARCHED = {
    "query": ("agent", "routes"),
    **{domain: (domain, "routes") for domain in DOMAINS},
    "collections": ("records", "routes"),
    "mcp": ("web", "mcp"),
    "v1": ("web", "openai_routes"),
}
"""Of the function `search`, by the first part of their addresses; all others are the service's own."""

SEARCH = Routers(tuple(dict.fromkeys((_SERVICE, *_SEARCHED.values()))))
UNLOCK = Routers((("people", "unlock_routes"),))
PROFILE = Routers((("people", "profile_routes"), ("kept", "routes")))
CACHE_LOOKUP = Routers((("records", "answer_cache"),))
CONSOLE = Routers((("web", "page_routes"),))
EVERYTHING = Routers(
    tuple(each for function in (SEARCH, UNLOCK, PROFILE, CACHE_LOOKUP, CONSOLE) for each in function.modules)
)


def routers_at(path: str) -> Routers:
    """The routers of `search` that may serve this path. With only these, a first request waits for no other's contract."""
    return Routers((_SEARCHED.get(unquote(path).removeprefix("/").partition("/")[0], _SERVICE),))


def import_the_rest() -> None:
    """Import what is else imported with the first request of `search` that needs it."""
    tuple(SEARCH)
    import_what_answers()
