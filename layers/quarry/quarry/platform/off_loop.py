"""Runs CPU-bound work in a thread, so that it does not block the event loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, TypeVar

from quarry.platform.errors import QuarryError

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# One thread: the interpreter runs only one thread of such work at a time.
_thread = ThreadPoolExecutor(1, thread_name_prefix="off-loop")


async def off_loop(call: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
    """Run `call` in a thread while the event loop goes on, and return its result or raise its error.

    A regular expression or another C function still blocks the loop, so each must be short for any input. If the caller is
    cancelled before the call begins, the call is not made.
    """
    return await asyncio.wrap_future(_thread.submit(copy_context().run, partial(call, *args, **kwargs)))


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
