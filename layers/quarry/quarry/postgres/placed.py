"""A tenant's database wherever its schema is at the moment: a move changes that while searches and loads go on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import get_args

import psycopg

from quarry.platform.errors import DatabaseUnavailable
from quarry.postgres.pool import Connection, Database, Parameters, Query, SetAside, T

MOVING_SECONDS = 3.0
"""How long a write that a move refuses is tried again. Longer than a move refuses writes and is not noticed."""
_PAUSE_SECONDS = 0.1

Place = Callable[[], Awaitable[Database]]
"""Where a tenant is now."""


class PlacedDatabase(Database):
    """The database that `place` gives, asked for each transaction. What a move refuses is tried again, unless it is the caller's
    own transaction: then DatabaseUnavailable is raised.
    """

    def __init__(self, schema: str, place: Place, *, sets_aside: bool = True) -> None:
        self.schema = schema
        self._place = place
        if sets_aside:
            self._set_aside = {
                purpose: PlacedDatabase(schema, _mapped(place, _setting_aside(purpose)), sets_aside=False)
                for purpose in get_args(SetAside)
            }

    def acting(self, settings: Mapping[str, str]) -> Database:
        return PlacedDatabase(self.schema, _mapped(self._place, lambda database: database.acting(settings)))

    def within(self, schema: str) -> Database:
        return PlacedDatabase(schema, _mapped(self._place, lambda database: database.within(schema)))

    @asynccontextmanager
    async def transaction(self, statement: Query | None = None) -> AsyncIterator[Connection]:
        async with (await self._place()).transaction(statement) as connection:
            yield connection

    async def read(self, work: Callable[[Connection], Awaitable[T]], statement: Query | None = None) -> T:
        return await self._tried(lambda database: database.read(work, statement))

    async def execute(self, query: Query, parameters: Parameters | None = None) -> int:
        return await self._tried(lambda database: database.execute(query, parameters))

    async def wake(self) -> None:
        await (await self._place()).wake()

    async def close(self) -> None:
        """Nothing: the connections belong to the servers."""

    async def _tried(self, work: Callable[[Database], Awaitable[T]]) -> T:
        until = time.monotonic() + MOVING_SECONDS
        while True:
            try:
                return await work(await self._place())
            except DatabaseUnavailable as error:
                # nothing of a refused transaction stays, so it can be repeated
                if not isinstance(error.__cause__, psycopg.errors.ReadOnlySqlTransaction) or time.monotonic() > until:
                    raise
            await asyncio.sleep(_PAUSE_SECONDS)


def _mapped(place: Place, change: Callable[[Database], Database]) -> Place:
    async def changed() -> Database:
        return change(await place())

    return changed


def _setting_aside(purpose: SetAside) -> Callable[[Database], Database]:
    return lambda database: database.set_aside(purpose)
