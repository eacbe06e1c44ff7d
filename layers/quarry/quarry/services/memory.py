"""What a process remembers of a database for a while."""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")

VALUES_MAX = 10_000


class Memory:
    """Values by name. The reader of each says how old it may be."""

    def __init__(self) -> None:
        self._values: dict[str, tuple[float, Any]] = {}

    async def read(self, name: str, read: Callable[[], Awaitable[T]], *, seconds: float) -> T:
        """The value of this name if it was read in the last `seconds`; else `read` it now. Raises what `read` raises."""
        now = time.monotonic()
        at, value = self._values.get(name, (-math.inf, None))
        if now - at < seconds:
            remembered: T = value
            return remembered
        value = await read()
        self.keep(name, value)
        return value

    def keep(self, name: str, value: object) -> None:
        """Remember a value under this name. If there are too many, the oldest is dropped."""
        self._values.pop(name, None)
        self._values[name] = (time.monotonic(), value)
        if len(self._values) > VALUES_MAX:
            del self._values[next(iter(self._values))]

    def forget(self) -> None:
        """Forget every value."""
        self._values.clear()

    def holds(self, name: str, *, seconds: float) -> bool:
        """Whether a value of this name was remembered in the last `seconds`."""
        return time.monotonic() - self._values.get(name, (-math.inf, None))[0] < seconds
