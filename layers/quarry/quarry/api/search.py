"""What the function `search` serves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from fastapi import APIRouter

from quarry.domains import import_what_answers, module
from quarry.platform.contract import DOMAINS

_SERVICE = ("web", "service_routes")
_MODULES = {
    "runs": ("web", "run_routes"),
    "query": ("agent", "routes"),
    **{domain: (domain, "routes") for domain in DOMAINS},
    "collections": ("records", "routes"),
    "mcp": ("web", "mcp"),
    "v1": ("web", "openai_routes"),
}
"""The folders and modules of the routers, by the first part of their addresses; all others are the service's own."""


@dataclass(frozen=True)
class Routers(Iterable[APIRouter]):
    """The routers of `modules`, which are imported on iteration."""

    modules: tuple[tuple[str, str], ...]

    def __iter__(self) -> Iterator[APIRouter]:
        for folder, name in self.modules:
            yield module(folder, name).router


ROUTERS = Routers(tuple(dict.fromkeys((_SERVICE, *_MODULES.values()))))


def routers_at(path: str) -> Routers:
    """The routers that may serve this path. With only these, a first request waits for no other's contract."""
    return Routers((_MODULES.get(unquote(path).removeprefix("/").partition("/")[0], _SERVICE),))


def import_the_rest() -> None:
    """Import what is else imported with the first request that needs it."""
    tuple(ROUTERS)
    import_what_answers()
