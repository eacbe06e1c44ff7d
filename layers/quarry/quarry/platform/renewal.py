"""A lease that is renewed during a block of work."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from quarry.platform.errors import QuarryError

logger = logging.getLogger(__name__)


@asynccontextmanager
async def leased(
    renew: Callable[[], Awaitable[object]], release: Callable[[], Awaitable[object]], *, seconds: float
) -> AsyncIterator[None]:
    """Call `renew` at intervals of `seconds` until the end of the block, and `release` if the block raises. Failures of both are
    logged: the next renewal may succeed, or the lease expires.
    """
    ended = asyncio.Event()
    renewing = asyncio.create_task(_renew(renew, seconds, ended))
    try:
        yield
    except BaseException:
        await asyncio.shield(_attempt(release, "released, and will expire"))
        raise
    finally:
        ended.set()
        await asyncio.wait([renewing])


async def _renew(renew: Callable[[], Awaitable[object]], seconds: float, ended: asyncio.Event) -> None:
    while not await _happens(ended, seconds):
        await _attempt(renew, "renewed")


async def _attempt(work: Callable[[], Awaitable[object]], done: str) -> None:
    try:
        await work()
    except QuarryError as error:
        logger.warning("a claim could not be %s: %s", done, type(error).__name__)


async def _happens(event: asyncio.Event, seconds: float) -> bool:
    """Whether `event` is set within `seconds`."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
