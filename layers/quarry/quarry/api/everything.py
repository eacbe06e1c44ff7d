"""What the functions serve together, and a local server by itself."""

from collections.abc import Iterable, Iterator

from fastapi import APIRouter


class _AllRouters(Iterable[APIRouter]):
    """Imported when they are gone through: the function `search` has them all for one document alone, which few ask for."""

    def __iter__(self) -> Iterator[APIRouter]:
        from quarry.api import cache_lookup, console, profile, search, unlock

        for served in (search, unlock, profile, cache_lookup, console):
            yield from served.ROUTERS


ROUTERS = _AllRouters()
