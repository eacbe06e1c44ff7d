"""What a process reads of its database now and then, and remembers meanwhile."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")

VALUES_MAX = 10_000


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
        self.keep(name, value)
        return value

    def keep(self, name: str, value: object) -> None:
        """Remember a value under this name from now on; the oldest is forgotten where there are too many."""
        self._values.pop(name, None)
        self._values[name] = (time.monotonic(), value)
        if len(self._values) > VALUES_MAX:
            del self._values[next(iter(self._values))]

    def holds(self, name: str, *, seconds: float) -> bool:
        """Whether anything was remembered under this name in the last `seconds`."""
        return time.monotonic() - self._values.get(name, (-float("inf"), None))[0] < seconds
