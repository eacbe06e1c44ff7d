"""A circuit breaker: a model that keeps failing is not called for a while, then tried with one call."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from types import TracebackType
from typing import Literal, Self

from quarry.models.interface import ChatModel, Message, Output, StreamPart, Structured, ToolDefinition, Usage
from quarry.platform.errors import ModelError, ModelRequestRejected, ModelTimedOut, ModelUnavailable
from quarry.platform.telemetry import Attributes, span

COOL_DOWN_SECONDS = 2.0
"""How long a model is not called at first; twice as long after each failed try."""
COOL_DOWN_SECONDS_MAX = 60.0

CircuitState = Literal["ok", "failing", "recovering"]

_NEARLY_ONE = 0.99
"""A wait for nearly the whole timeout counts as a whole failure: clocks are not exact."""

logger = logging.getLogger(__name__)


class CircuitBreaker:
    """Whether one model may be called, judged by its last calls.

    It opens after `failures_max` failures in a row; 0 means never. A call that gave up before `patience_seconds`, because its
    search had no more time, counts for the share that it waited. Timeouts, broken connections, error statuses, rate limits,
    refused keys and unknown formats are failures. Refusals and unusable outputs are answers. A request that the server finds
    invalid is neither.
    """

    def __init__(
        self, model: str, *, failures_max: int, patience_seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._model = model
        self._failures_max = failures_max
        self.patience_seconds = patience_seconds
        self._clock = clock
        self._failures = 0.0
        self._cool_down_seconds = COOL_DOWN_SECONDS
        self._retry_at: float | None = None
        self._probe: Attempt | None = None

    @property
    def state(self) -> CircuitState:
        """ok: calls go through. failing: none do. recovering: one call, the next or the current one, tries the model."""
        if self._retry_at is None:
            return "ok"
        return "failing" if self._probe is None and self._clock() < self._retry_at else "recovering"

    def attempt(self) -> Attempt:
        """A call, made in the `with` block of the attempt. Raises ModelUnavailable while the model may not be called."""
        attempt = Attempt(self, self._clock)
        if self._retry_at is None:
            return attempt
        seconds = self._retry_at - self._clock()
        if seconds > 0 or self._probe is not None:
            raise ModelUnavailable(
                "The model keeps failing and is left alone for a while; try again shortly.",
                retry_after_seconds=max(1, math.ceil(seconds)),
            )
        self._probe = attempt
        return attempt

    def _succeeded(self, attempt: Attempt) -> None:
        if self._is_late(attempt):
            return
        if self._retry_at is not None:
            logger.info("the model %s answers again", self._model)
        self._failures, self._cool_down_seconds = 0.0, COOL_DOWN_SECONDS
        self._retry_at = self._probe = None

    def _failed(self, attempt: Attempt, share: float) -> None:
        if self._is_late(attempt):
            return
        if attempt is self._probe:
            self._cool_down_seconds = min(COOL_DOWN_SECONDS_MAX, self._cool_down_seconds * (1 + share))
            self._open()
            return
        self._failures += share
        if self._failures_max and self._failures >= self._failures_max:
            self._open()

    def _abandoned(self, attempt: Attempt) -> None:
        if attempt is self._probe:
            self._probe = None

    def _open(self) -> None:
        self._retry_at, self._probe = self._clock() + self._cool_down_seconds, None
        logger.warning("the model %s keeps failing; left alone for %.0f s", self._model, self._cool_down_seconds)

    def _is_late(self, attempt: Attempt) -> bool:
        """Whether the attempt began before the circuit opened; its result no longer matters."""
        return self._retry_at is not None and attempt is not self._probe


class Attempt:
    """One call of a model, as a context manager. The breaker learns how the block ends, except for cancellations."""

    def __init__(self, breaker: CircuitBreaker, clock: Callable[[], float]) -> None:
        self._breaker = breaker
        self._clock = clock
        self._waiting_since = clock()

    def answers(self) -> None:
        """A piece of a streamed answer came: the model is back, even if the answer may still fail."""
        if self._breaker._probe is self:
            self._breaker._succeeded(self)

    def asks_on(self) -> None:
        """The next piece is requested: the time since the last one was its reader's, not the model's."""
        self._waiting_since = self._clock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        match error:
            case ModelTimedOut():
                share = (self._clock() - self._waiting_since) / self._breaker.patience_seconds
                self._breaker._failed(self, 1.0 if share >= _NEARLY_ONE else share)
            case ModelUnavailable() if not isinstance(error, ModelRequestRejected):
                self._breaker._failed(self, 1.0)
            case None:
                self._breaker._succeeded(self)
            case ModelError() if not isinstance(error, ModelRequestRejected):
                self._breaker._succeeded(self)
            case _:
                self._breaker._abandoned(self)


class GuardedChat:
    """A ChatModel with a circuit breaker: while it keeps failing, every method raises ModelUnavailable at once. Traces name the
    `provider`.
    """

    def __init__(self, model: ChatModel, breaker: CircuitBreaker, provider: str = "openai") -> None:
        self._model = model
        self._breaker = breaker
        self._provider = provider

    @property
    def name(self) -> str:
        return self._model.name

    async def decide(
        self, messages: Sequence[Message], *, name: str, output_type: type[Output], seconds: float
    ) -> Structured[Output]:
        with self._traced("json") as tell, self._breaker.attempt():
            decided = await self._model.decide(messages, name=name, output_type=output_type, seconds=seconds)
            tell(decided.usage)
            return decided

    async def stream(
        self, messages: Sequence[Message], *, tools: Sequence[ToolDefinition] = (), seconds: float
    ) -> AsyncGenerator[StreamPart]:
        # not the current span: between two parts the reader is at work
        with self._traced("text", current=False) as tell, self._breaker.attempt() as attempt:
            async with aclosing(self._model.stream(messages, tools=tools, seconds=seconds)) as parts:
                async for part in parts:
                    attempt.answers()
                    if isinstance(part, Usage):
                        tell(part)
                    yield part
                    attempt.asks_on()

    async def close(self) -> None:
        await self._model.close()

    @contextmanager
    def _traced(self, output_type: str, *, current: bool = True) -> Iterator[Callable[[Usage], None]]:
        """The span of a call; what it yields records the usage."""
        attributes: Attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": self._provider,
            "gen_ai.request.model": self.name,
            "gen_ai.output.type": output_type,
        }
        with span(f"chat {self.name}", attributes, kind="client", current=current) as added:

            def tell(usage: Usage) -> None:
                added["gen_ai.usage.input_tokens"] = usage.prompt_tokens
                added["gen_ai.usage.output_tokens"] = usage.completion_tokens

            yield tell
