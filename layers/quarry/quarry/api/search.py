"""What the function `search` serves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from urllib.parse import unquote

from fastapi import APIRouter

from quarry.domains import having, import_what_answers

_SERVICE = "quarry.web.service_routes"
_MODULES = {
    "runs": "quarry.web.run_routes",
    "query": "quarry.agent.routes",
    **{domain: f"quarry.{domain}.routes" for domain in having("routes")},
    "collections": "quarry.records.routes",
    "mcp": "quarry.web.mcp",
    "v1": "quarry.web.openai_routes",
}
"""The modules of the routers, by the first part of their addresses; all others are the service's own."""


@dataclass(frozen=True)
class Routers(Iterable[APIRouter]):
    """The routers of `modules`, which are imported on iteration."""

    modules: tuple[str, ...]

    def __iter__(self) -> Iterator[APIRouter]:
        for module in self.modules:
            yield import_module(module).router


ROUTERS = Routers(tuple(dict.fromkeys((_SERVICE, *_MODULES.values()))))


def routers_at(path: str) -> Routers:
    """The routers that may serve this path. With only these, a first request waits for no other's contract."""
    return Routers((_MODULES.get(unquote(path).removeprefix("/").partition("/")[0], _SERVICE),))


def import_the_rest() -> None:
    """Import what is else imported with the first request that needs it."""
    tuple(ROUTERS)
    import_what_answers()
