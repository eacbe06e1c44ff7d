"""What a process reads of its database now and then, and remembers meanwhile."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Memory:
    """Values by name, each read again when it is older than its reader says."""

    def __init__(self) -> None:
        self._values: dict[str, tuple[float, Any]] = {}

    async def read(self, name: str, read: Callable[[], Awaitable[T]], *, seconds: float) -> T:
        """What was read under this name in the last `seconds`, or else is read now. Raises what `read` does."""
        now = time.monotonic()
        at, value = self._values.get(name, (-float("inf"), None))
        if now - at < seconds:
            remembered: T = value
            return remembered
        value = await read()
        self._values[name] = (now, value)
        return value
