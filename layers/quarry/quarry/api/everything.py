"""The routes of all functions, which a local server serves together."""

from collections.abc import Iterable, Iterator

from fastapi import APIRouter


class _AllRouters(Iterable[APIRouter]):
    """Imported on iteration: the function `search` needs them only for `/openapi.json`."""

    def __iter__(self) -> Iterator[APIRouter]:
        from quarry.api import cache_lookup, console, profile, search, unlock

        for served in (search, unlock, profile, cache_lookup, console):
            yield from served.ROUTERS


ROUTERS = _AllRouters()
