"""The interfaces of chat models and embedding models, independent of the provider."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel

Output = TypeVar("Output", bound=BaseModel)


@dataclass(frozen=True)
class Usage:
    """Tokens that a call used; zero if the server does not report them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def total(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.prompt_tokens + other.prompt_tokens, self.completion_tokens + other.completion_tokens)


class ToolCall(NamedTuple):
    """A tool call by a model. `arguments` is the JSON text that the model wrote, not yet validated."""

    id: str
    name: str
    arguments: str


class Message(NamedTuple):
    """One message of a conversation. `tool_calls` goes with an assistant's, `tool_call_id` with a tool's."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


class ToolDefinition(NamedTuple):
    """A tool that a model can call: its name, its purpose, and the JSON schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Structured(Generic[Output]):
    """A validated structured output."""

    output: Output
    usage: Usage


StreamPart = str | Usage | tuple[ToolCall, ...]
"""A part of a streamed turn: a piece of its text, the tokens used so far, or, last, the tools that the model calls."""


class ChatModel(Protocol):
    """A chat model. Every method raises ModelUnavailable, ModelRefused or ModelOutputInvalid, never another error.

    `seconds` bounds the whole call, retries included; for a stream, it bounds the wait for each piece and, together, the whole.
    """

    @property
    def name(self) -> str: ...

    async def decide(
        self, messages: Sequence[Message], *, name: str, output_type: type[Output], seconds: float
    ) -> Structured[Output]:
        """A structured output: JSON that `output_type` accepts. `name` is the name of the JSON schema on the wire."""
        ...

    def stream(
        self, messages: Sequence[Message], *, tools: Sequence[ToolDefinition] = (), seconds: float
    ) -> AsyncGenerator[StreamPart]:
        """One turn, piece by piece as the model writes it. With `tools`, the model may call them as well. Time runs from the
        first part that is asked for, errors come while iterating, and closing the generator ends the request.
        """
        ...

    async def close(self) -> None: ...


class EmbeddingModel(Protocol):
    """An embedding model. `embed` raises ModelUnavailable."""

    @property
    def name(self) -> str:
        """The name of the model that a database records for its vectors."""
        ...

    @property
    def dimensions(self) -> int: ...

    def windows(self, text: str) -> list[str]:
        """The parts of `text` that are embedded separately, since the model reads no more at once; at least one."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector of `dimensions` numbers for each text, in order."""
        ...

    async def close(self) -> None: ...


class Prices(NamedTuple):
    """US dollars for a million tokens read and written, from the settings; None if unset."""

    prompt: float | None = None
    completion: float | None = None

    def cost(self, usage: Usage) -> float | None:
        """The cost of tokens in US dollars; None if a price is unknown."""
        if self.prompt is None or self.completion is None:
            return None
        return (usage.prompt_tokens * self.prompt + usage.completion_tokens * self.completion) / 1e6
