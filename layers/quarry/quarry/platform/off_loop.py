"""Runs CPU-bound work in a thread, so that it does not block the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, TypeVar

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
