"""Chat with OpenAI, or any server with its Chat Completions. The SDK streams; our own small types read the answers, and accept
what other servers leave out.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from quarry.models.answers import (
    DECLINED,
    USUAL_LIMITS,
    OutputLimits,
    ServedChat,
    StorableText,
    TokensField,
    Wire,
    check_ending,
    check_has_text,
    check_length,
    check_stream,
    read_output,
    response_format,
)
from quarry.models.connections import OpenAIConnection, openai_errors
from quarry.models.interface import Message, Output, StreamPart, Structured, ToolCall, ToolDefinition, Usage
from quarry.platform.errors import ModelRefused

if TYPE_CHECKING:
    from openai import AsyncStream
    from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam

_OPENAI_HOSTS = (".openai.com", ".openai.azure.com")


class OpenAIChat(ServedChat[OpenAIConnection]):
    """A ChatModel over Chat Completions, the API that compatible servers share. Answers beyond the limits are cut off even if the
    server ignores them.
    """

    def __init__(self, connection: OpenAIConnection, model: str, limits: OutputLimits = USUAL_LIMITS) -> None:
        super().__init__(connection, model, limits)
        self._is_openai = _is_openai(connection.base_url)
        usual: TokensField = "max_completion_tokens" if self._is_openai else "max_tokens"
        self._tokens_field = limits.tokens_field or usual

    async def decide(
        self, messages: Sequence[Message], *, name: str, output_type: type[Output], seconds: float
    ) -> Structured[Output]:
        """A structured output. ModelOutputInvalid describes the problem, so that the model can be asked again."""
        form = response_format(name, output_type, bounds_texts=not self._is_openai)
        options: dict[str, Any] = {"response_format": form}
        tokens = self._limits.of_decision(output_type)
        client = await self._connection.open()
        with openai_errors():
            async with asyncio.timeout(min(seconds, self._timeout_seconds)):
                response = await client.chat.completions.with_raw_response.create(
                    model=self.name,
                    messages=[_wire_message(message) for message in messages],
                    **self._at_most(tokens),
                    **options,
                )
            completion = _Completion.model_validate_json(response.content)
        check_has_text(bool(completion.choices))
        assert completion.choices
        choice = completion.choices[0]
        if choice.message.refusal:
            raise ModelRefused(DECLINED)
        check_ending(choice.finish_reason)
        check_length(choice.message.characters, tokens)
        output = read_output(choice.message.content or "", name, output_type)
        return Structured(output, _usage(completion.usage))

    def _at_most(self, tokens: int) -> dict[str, Any]:
        return {self._tokens_field: tokens}

    async def stream(
        self, messages: Sequence[Message], *, tools: Sequence[ToolDefinition] = (), seconds: float
    ) -> AsyncGenerator[StreamPart]:
        """One turn, piece by piece."""
        finish_reason: str | None = None
        characters = 0
        by_index: dict[int, _WireToolCall] = {}
        client = await self._connection.open()
        with openai_errors():
            deadline = asyncio.get_running_loop().time() + seconds
            async with asyncio.timeout(min(seconds, self._timeout_seconds)):
                chunks = await client.chat.completions.create(
                    model=self.name,
                    messages=[_wire_message(message) for message in messages],
                    stream=True,
                    stream_options={"include_usage": True},
                    **self._at_most(self._limits.answer_tokens),
                    **_offered(tools),
                )
            async with _ended(chunks):
                while (chunk := await _next_chunk(chunks, deadline, self._timeout_seconds)) is not None:
                    if chunk.usage:
                        yield _usage(chunk.usage)
                    finish_reason = chunk.choice.finish_reason or finish_reason
                    if chunk.choice.message.refusal:
                        raise ModelRefused(DECLINED)
                    characters += chunk.choice.message.characters
                    check_length(characters, self._limits.answer_tokens)
                    _collect(by_index, chunk.choice.message.tool_calls or ())
                    if piece := chunk.choice.message.content:
                        yield piece
        check_stream(finish_reason, characters)
        if calls := _calls([by_index[index] for index in sorted(by_index)]):
            yield calls


class _WireUsage(Wire):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _WireFunction(Wire):
    name: str | None = None
    arguments: StorableText | None = None


class _WireToolCall(Wire):
    index: int | None = None
    id: str | None = None
    function: _WireFunction | None = None


class _AnswerMessage(Wire):
    content: StorableText | None = None
    refusal: str | None = None
    tool_calls: list[_WireToolCall] | None = None

    @property
    def characters(self) -> int:
        """How many characters the model wrote."""
        calls = [call.function for call in self.tool_calls or () if call.function]
        return len(self.content or "") + sum(len(call.name or "") + len(call.arguments or "") for call in calls)


class _Choice(Wire):
    message: _AnswerMessage
    finish_reason: str | None = None


class _Completion(Wire):
    choices: list[_Choice] | None
    usage: _WireUsage | None = None


class _ChunkChoice(Wire):
    delta: _AnswerMessage | None = None
    finish_reason: str | None = None

    @property
    def message(self) -> _AnswerMessage:
        return self.delta or _AnswerMessage()


class _Chunk(Wire):
    choices: list[_ChunkChoice] | None = None
    usage: _WireUsage | None = None

    @property
    def choice(self) -> _ChunkChoice:
        """The only choice. The chunk with the usage has none."""
        return self.choices[0] if self.choices else _ChunkChoice()


@asynccontextmanager
async def _ended(chunks: AsyncStream[ChatCompletionChunk]) -> AsyncIterator[None]:
    """Close the stream on leaving, and exhaust it: it holds its own iterator, and if it were left halfway, the garbage collector
    could close the iterators in another thread while the event loop does so, too.
    """
    try:
        yield
    finally:
        await chunks.close()
        with suppress(Exception):
            async for _ in chunks:
                pass


async def _next_chunk(chunks: AsyncStream[ChatCompletionChunk], deadline: float, wait_seconds: float) -> _Chunk | None:
    """The next chunk, None at the end. TimeoutError after `wait_seconds`, or past `deadline` by the event loop's clock."""
    # one timeout per chunk: left open while the caller handles a piece, it would cancel the caller's work
    async with asyncio.timeout_at(min(deadline, asyncio.get_running_loop().time() + wait_seconds)):
        chunk = await anext(chunks, None)
    return None if chunk is None else _Chunk.model_validate(chunk)


def _offered(tools: Sequence[ToolDefinition]) -> dict[str, Any]:
    # an empty list of tools is an error to OpenAI
    return {"tools": [_wire_tool(tool) for tool in tools]} if tools else {}


def _calls(calls: Sequence[_WireToolCall]) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(call.id or f"call_{number}", call.function.name, call.function.arguments or "{}")
        for number, call in enumerate(calls, start=1)
        if call.function and call.function.name
    )


def _collect(calls: dict[int, _WireToolCall], deltas: Sequence[_WireToolCall]) -> None:
    """Join the pieces of streamed tool calls by their index: only the first piece has the id and the name."""
    for place, delta in enumerate(deltas):
        index = place if delta.index is None else delta.index
        before = calls.get(index, _WireToolCall())
        old, new = before.function or _WireFunction(), delta.function or _WireFunction()
        calls[index] = _WireToolCall(
            id=before.id or delta.id,
            function=_WireFunction(
                name=old.name or new.name, arguments=(old.arguments or "") + (new.arguments or "") or None
            ),
        )


def _usage(usage: _WireUsage | None) -> Usage:
    return Usage(usage.prompt_tokens or 0, usage.completion_tokens or 0) if usage else Usage()


def _is_openai(base_url: str | None) -> bool:
    host = urlsplit(base_url).hostname or "" if base_url else "api.openai.com"
    return host.endswith(_OPENAI_HOSTS)


def _wire_message(message: Message) -> ChatCompletionMessageParam:
    wire: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        wire["content"] = message.content or None
        wire["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        wire["tool_call_id"] = message.tool_call_id
    return cast("ChatCompletionMessageParam", wire)


def _wire_tool(tool: ToolDefinition) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}
