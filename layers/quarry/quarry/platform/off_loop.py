"""Runs CPU-bound work in a thread, so that it does not block the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# One thread: the interpreter runs one thread of such work at a time anyway.
_thread = ThreadPoolExecutor(1, thread_name_prefix="off-loop")


async def off_loop(call: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
    """Run `call` in a thread while the event loop goes on, and return its result or raise its error.

    Within one pattern or one C function the loop stands still, so those must be short for any input. A caller who is cancelled
    before the call begins leaves no work behind.
    """
    return await asyncio.wrap_future(_thread.submit(call, *args, **kwargs))
