"""Work of the processor alone that may take longer than the event loop may stand still: read texts, compare candidates."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# One thread: such work never runs beside itself anyway, since the interpreter runs one thread at a time.
_thread = ThreadPoolExecutor(1, thread_name_prefix="off-loop")


async def off_loop(call: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
    """What `call` gives, worked out in a thread while the event loop goes on; what it raises is raised here.

    The loop gets its turn every few milliseconds of `call`'s, but not within one pattern or one function of C: those must be
    short for any input. Who is cancelled while waiting for a turn leaves no work behind.
    """
    return await asyncio.wrap_future(_thread.submit(call, *args, **kwargs))
