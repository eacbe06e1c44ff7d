"""A chat model behind a circuit breaker, and traced."""

from __future__ import annotations

import weakref
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager

from quarry.models.circuit_breaker import CircuitBreaker
from quarry.models.interface import ChatModel, Message, Output, Structured, TextStream, ToolDefinition, Turn, Usage
from quarry.platform.tracing import Attributes, span


class GuardedChat:
    """A ChatModel that is not called while it keeps failing: every method then raises ModelUnavailable at once. Its calls are
    traced as `provider`'s.
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

    async def take_turn(self, messages: Sequence[Message], *, tools: Sequence[ToolDefinition], seconds: float) -> Turn:
        with self._traced("text") as tell, self._breaker.attempt():
            turn = await self._model.take_turn(messages, tools=tools, seconds=seconds)
            tell(turn.usage)
            return turn

    def stream(
        self, messages: Sequence[Message], *, tools: Sequence[ToolDefinition] = (), seconds: float
    ) -> TextStream:
        stream = self._model.stream(messages, tools=tools, seconds=seconds)
        # weak, as the stream's own hold on itself is
        stream.pieces = self._guarded(stream.pieces, weakref.ref(stream))
        return stream

    async def close(self) -> None:
        await self._model.close()

    async def _guarded(self, pieces: AsyncGenerator[str], stream: weakref.ref[TextStream]) -> AsyncGenerator[str]:
        # not the current one: between two pieces its reader is at work
        with self._traced("text", current=False) as tell, self._breaker.attempt() as attempt:
            async with aclosing(pieces):
                async for piece in pieces:
                    attempt.answers()
                    yield piece
                    attempt.asks_on()
            if read := stream():
                tell(read.usage)

    @contextmanager
    def _traced(self, output_type: str, *, current: bool = True) -> Iterator[Callable[[Usage], None]]:
        """The span of a call, which is told what the call used."""
        attributes: Attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": self._provider,
            "gen_ai.request.model": self.name,
            "gen_ai.output.type": output_type,
        }
        with span(f"chat {self.name}", attributes, kind="client", current=current) as told:

            def tell(usage: Usage) -> None:
                told["gen_ai.usage.input_tokens"] = usage.prompt_tokens
                told["gen_ai.usage.output_tokens"] = usage.completion_tokens

            yield tell
