"""What the function `search` serves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from fastapi import APIRouter

from quarry.agent import routes as query_routes
from quarry.domains import import_what_answers, module
from quarry.platform.contract import DOMAINS
from quarry.web import run_routes, service_routes

_SMALL = (service_routes.router, run_routes.router, query_routes.router)

_MODULES = {
    **{domain: (domain, "routes") for domain in DOMAINS},
    "collections": ("records", "routes"),
    "mcp": ("web", "mcp"),
    "v1": ("web", "openai_routes"),
}
"""The folders and modules of the other routers, by the first part of their addresses."""


@dataclass(frozen=True)
class Routers(Iterable[APIRouter]):
    """The small routers and those of `modules`, which are imported on iteration."""

    modules: tuple[tuple[str, str], ...]

    def __iter__(self) -> Iterator[APIRouter]:
        yield from _SMALL
        for folder, name in self.modules:
            yield module(folder, name).router


ROUTERS = Routers(tuple(dict.fromkeys(_MODULES.values())))


def routers_at(path: str) -> Routers:
    """The routers that may serve this path. With only these, a first request waits for no other domain's contract."""
    found = _MODULES.get(unquote(path).removeprefix("/").partition("/")[0])
    return Routers((found,) if found else ())


def import_the_rest() -> None:
    """Import what is else imported with the first request that needs it."""
    tuple(ROUTERS)
    import_what_answers()
