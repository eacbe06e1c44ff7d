"""A chat model behind a circuit breaker."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from quarry.core.model.circuit_breaker import CircuitBreaker
from quarry.core.model.interface import ChatModel, Message, Output, Structured, TextStream, ToolDefinition, Turn


class GuardedChat:
    """A ChatModel that is not called while it keeps failing: every method then raises ModelUnavailable at once."""

    def __init__(self, model: ChatModel, breaker: CircuitBreaker) -> None:
        self._model = model
        self._breaker = breaker

    @property
    def name(self) -> str:
        return self._model.name

    async def decide(
        self, messages: Sequence[Message], *, name: str, output_type: type[Output], seconds: float
    ) -> Structured[Output]:
        with self._breaker.attempt():
            return await self._model.decide(messages, name=name, output_type=output_type, seconds=seconds)

    async def take_turn(self, messages: Sequence[Message], *, tools: Sequence[ToolDefinition], seconds: float) -> Turn:
        with self._breaker.attempt():
            return await self._model.take_turn(messages, tools=tools, seconds=seconds)

    def stream(self, messages: Sequence[Message], *, seconds: float) -> TextStream:
        stream = self._model.stream(messages, seconds=seconds)
        stream.pieces = self._guarded(stream.pieces)
        return stream

    async def close(self) -> None:
        await self._model.close()

    async def _guarded(self, pieces: AsyncGenerator[str]) -> AsyncGenerator[str]:
        with self._breaker.attempt() as attempt:
            async with aclosing(pieces):
                async for piece in pieces:
                    attempt.answers()
                    yield piece
