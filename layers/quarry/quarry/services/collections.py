"""A serving process keeps collections in step while it runs."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping

from quarry.collections.collection import Collection
from quarry.collections.upkeep import embedded_tables, keep_in_step, read_collections, take_renamed
from quarry.platform.errors import ModelError, QuarryError
from quarry.postgres.embed import embed_pending, make_ready
from quarry.postgres.embedding_queue import count_pending
from quarry.services.services import Services

LOOK_SECONDS = 0.25
"""How often to look for changed rows: the longest time until a change is found by its words."""
DECLARED_SECONDS = 5.0
"""How often to read which collections there are."""
FAULT_SECONDS = 10.0
"""The pause after a fault of the database or the model."""

logger = logging.getLogger(__name__)


async def keep(services: Services) -> None:
    """Process changes in batches until cancelled. A fault is logged and retried."""
    collections: Mapping[str, Collection] = {}
    read_at = embed_at = -DECLARED_SECONDS
    while True:
        now = time.monotonic()
        try:
            if now - read_at >= DECLARED_SECONDS:
                collections, read_at = await read_collections(services.database), now
                await take_renamed(services.database, collections.values())
            await keep_in_step(services.database, collections.values())
            if now >= embed_at:
                embed_at = now + (LOOK_SECONDS if await _embed(services, collections) else DECLARED_SECONDS)
            await asyncio.sleep(LOOK_SECONDS if collections else DECLARED_SECONDS)
        except ModelError as error:
            logger.warning("collections are not embedded: %s", type(error).__name__)
            embed_at = now + FAULT_SECONDS
        except QuarryError as error:
            logger.warning("collections are not kept in step: %s", type(error).__name__)
            await asyncio.sleep(FAULT_SECONDS)


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
