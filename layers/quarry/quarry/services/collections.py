"""A serving process keeps collections in step while it runs."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

from quarry.collections.collection import Collection
from quarry.collections.upkeep import embedded_tables, keep_in_step, read_collections, take_renamed
from quarry.platform.errors import ModelError, QuarryError
from quarry.postgres.embed import embed_pending, make_ready
from quarry.postgres.embedding_queue import count_pending
from quarry.services.services import Services
from quarry.services.tenants import everyone

LOOK_SECONDS = 0.25
"""How often to look for changed rows: the longest time until a change is found by its words."""
DECLARED_SECONDS = 5.0
"""How often to read which collections there are."""
TURN_SECONDS = 0.5
"""After this time the next tenant has its turn; a batch that was begun is finished."""
QUIET_SECONDS = 60.0
"""How often to look for changed rows of a tenant that had none for long. A search takes in the latest ones itself."""
FAULT_SECONDS = 10.0
"""The pause after a fault of the database or the model."""

logger = logging.getLogger(__name__)


async def keep(services: Services) -> None:
    """Process changes in batches until cancelled. A fault is logged and retried. Tenants take turns, so that none waits for all
    the work of another.
    """
    keepers = {"": _Keeper(services)}
    tenants_read_at = -DECLARED_SECONDS
    while True:
        now = time.monotonic()
        if services.tenants is not None and now - tenants_read_at >= DECLARED_SECONDS:
            tenants_read_at = now
            with suppress(QuarryError):  # whoever is known goes on
                keepers = await _with_tenants(keepers, services)
        for each in keepers.values():
            if each.due_at <= time.monotonic():
                await each.turn()
        pause = min(each.due_at for each in keepers.values()) - time.monotonic()
        await asyncio.sleep(min(max(pause, 0.0), DECLARED_SECONDS))


async def _with_tenants(keepers: Mapping[str, _Keeper], services: Services) -> dict[str, _Keeper]:
    """The keeper of the installation, and that of each of its tenants."""
    kept = {"": keepers[""]}
    for each in await everyone(services):
        if each is not services:
            schema = each.settings.database_schema
            kept[schema] = keepers.get(schema) or _Keeper(each, turn_seconds=TURN_SECONDS)
            kept[schema].services = each  # its quotas may have changed
    return kept


class _Keeper:
    """Keeps the collections of one schema in step. With `turn_seconds` it stops after that time, and looks more rarely while
    nothing changes.
    """

    def __init__(self, services: Services, *, turn_seconds: float = math.inf) -> None:
        self.due_at = 0.0
        self.services = services
        self._turn_seconds = turn_seconds
        self._collections: Mapping[str, Collection] = {}
        self._read_at = self._embed_at = -DECLARED_SECONDS
        self._pause = LOOK_SECONDS

    async def turn(self) -> None:
        """Do what is due, and set when to look again."""
        try:
            self.due_at = time.monotonic() + await self._work()
        except ModelError as error:
            logger.warning("collections are not embedded: %s", type(error).__name__)
            self._embed_at = time.monotonic() + FAULT_SECONDS
            self.due_at = time.monotonic() + LOOK_SECONDS
        except QuarryError as error:
            logger.warning("collections are not kept in step: %s", type(error).__name__)
            self.due_at = time.monotonic() + FAULT_SECONDS

    async def _work(self) -> float:
        """Process changes; the seconds until there may be more."""
        now, database = time.monotonic(), self.services.database
        if now - self._read_at >= DECLARED_SECONDS:
            self._collections, self._read_at = await read_collections(database), now
            await take_renamed(database, self._collections.values())
        ends_at = now + self._turn_seconds
        done = await keep_in_step(
            database,
            self._collections.values(),
            rows_max=self.services.rows_max,
            keep_going=lambda: time.monotonic() < ends_at,
        )
        embedded = False
        if now >= self._embed_at:
            embedded = await _embed(self.services, self._collections)
            self._embed_at = now + (LOOK_SECONDS if embedded else DECLARED_SECONDS)
        if self._turn_seconds == math.inf:
            return LOOK_SECONDS if self._collections else DECLARED_SECONDS
        self._pause = LOOK_SECONDS if done or embedded else min(2 * self._pause, QUIET_SECONDS)
        return self._pause


async def _embed(services: Services, collections: Mapping[str, Collection]) -> bool:
    """Embed a batch of each collection with pending rows; whether anything was embedded."""
    waiting = [
        table for table in embedded_tables(collections.values()) if await count_pending(services.database, table)
    ]
    if waiting:
        await make_ready(services.database, services.embeddings)
    done = [await embed_pending(services.database, services.embeddings, table, keep_going=_once()) for table in waiting]
    return any(each.rows for each in done)


def _once() -> Callable[[], bool]:
    """True on the first call, then false."""
    turns = iter((True,))
    return lambda: next(turns, False)
