"""What the function `search` serves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from urllib.parse import unquote

from fastapi import APIRouter

from quarry.agent import routes as query_routes
from quarry.domains import having, import_what_answers
from quarry.web import run_routes, service_routes

_SMALL = (service_routes.router, run_routes.router, query_routes.router)

_MODULES = {
    **{domain: f"quarry.{domain}.routes" for domain in having("routes")},
    "collections": "quarry.records.routes",
    "mcp": "quarry.web.mcp",
    "v1": "quarry.web.openai_routes",
}
"""The modules of the other routers, by the first part of their addresses."""


@dataclass(frozen=True)
class Routers(Iterable[APIRouter]):
    """The small routers and those of `modules`, which are imported on iteration."""

    modules: tuple[str, ...]

    def __iter__(self) -> Iterator[APIRouter]:
        yield from _SMALL
        for module in self.modules:
            yield import_module(module).router


ROUTERS = Routers(tuple(dict.fromkeys(_MODULES.values())))


def routers_at(path: str) -> Routers:
    """The routers that may serve this path. With only these, a first request waits for no other domain's contract."""
    module = _MODULES.get(unquote(path).removeprefix("/").partition("/")[0])
    return Routers((module,) if module else ())


def import_the_rest() -> None:
    """Import what is else imported with the first request that needs it."""
    tuple(ROUTERS)
    import_what_answers()
