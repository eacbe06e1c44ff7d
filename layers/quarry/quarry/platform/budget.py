"""The budget of a search, checked before each step."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Self

from quarry.platform.errors import TimeIsUp

ANSWER_RESERVE_SECONDS = 10.0
"""Reserved for the text of an answer."""


@dataclass
class Budget:
    """Limits of one search: model turns, tool calls, seconds and tokens, with seconds kept back for writing the answer.

    `patience` are the seconds that all calls of a model together may take without bringing the search on; a valid decision
    and a call that finds something do. `waited` are those that they took. `clock` is monotonic seconds. The budget starts when it
    is made.
    """

    max_turns: int
    max_calls: int
    max_seconds: float
    max_tokens: int
    reserved_seconds: float = 0.0
    patience: float = math.inf
    clock: Callable[[], float] = time.monotonic
    turns: int = 0
    calls: int = 0
    tokens: int = 0
    waited: float = 0.0
    _started: float = field(init=False)

    def __post_init__(self) -> None:
        self._started = self.clock()

    @classmethod
    def without_model(cls, seconds: float) -> Self:
        """The budget of a search that calls no model."""
        return cls(max_turns=0, max_calls=0, max_seconds=seconds, max_tokens=1)

    @classmethod
    def for_answer(
        cls, max_turns: int, max_calls: int, seconds: float, tokens: int, reserve: float = ANSWER_RESERVE_SECONDS
    ) -> Self:
        """The budget of an answer that a model may write, with time kept back for the text: at most half of all."""
        return cls(max_turns, max_calls, seconds, tokens, reserved_seconds=min(reserve, seconds / 2))

    @property
    def seconds_left(self) -> float:
        """Seconds until the search must have ended."""
        return max(0.0, self.max_seconds - (self.clock() - self._started))

    @property
    def seconds_for_work(self) -> float:
        """Seconds that may still be spent before the answer is begun."""
        return max(0.0, self.seconds_left - self.reserved_seconds)

    @property
    def model_seconds(self) -> float:
        """Seconds that a model may still take."""
        return max(0.0, min(self.seconds_left, self.patience - self.waited))

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Counts the seconds of the block as waited for a model."""
        began = self.clock()
        try:
            yield
        finally:
            self.waited += self.clock() - began

    @property
    def calls_left(self) -> int:
        return max(0, self.max_calls - self.calls)

    def allows_turn(self) -> bool:
        """Whether another model turn may begin."""
        is_in_time = self.seconds_for_work > 0 and self.model_seconds > 0
        return self.turns < self.max_turns and self.tokens < self.max_tokens and is_in_time

    def release_reserve(self) -> None:
        """Make the reserved time available: what it was reserved for is done."""
        self.reserved_seconds = 0.0

    def spend_turn(self) -> None:
        self.turns += 1

    def spend_call(self) -> None:
        self.calls += 1


@asynccontextmanager
async def in_time(seconds: float) -> AsyncIterator[None]:
    """Cancel the block after `seconds` and raise TimeIsUp. Do not yield inside the block: the reader would be cancelled."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield
    except TimeoutError:
        if not limit.expired():
            raise
        raise TimeIsUp from None
