"""Chat from Amazon Bedrock by its Converse API, which is the same for all of its models.

A structured output is asked for as the arguments of a tool that the model must call.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import replace
from typing import Any

from quarry.models.answers import (
    USUAL_LIMITS,
    OutputLimits,
    ServedChat,
    StorableText,
    Wire,
    check_ending,
    check_length,
    check_stream,
    check_written,
    read_output,
    storable,
)
from quarry.models.bedrock_connection import Connection, EventStream, translated
from quarry.models.interface import (
    Keep,
    Message,
    Output,
    Structured,
    ToolCall,
    ToolDefinition,
    Turn,
    Usage,
)
from quarry.models.schemas import response_format


class BedrockChat(ServedChat):
    """A ChatModel over Converse. `model` is the id or ARN of a model or inference profile. No call, and no wait for a piece of a
    stream, exceeds `timeout_seconds`. Answers beyond `limits` are cut off.
    """

    def __init__(
        self,
        *,
        region: str | None,
        url: str | None,
        model: str,
        max_retries: int,
        timeout_seconds: float,
        limits: OutputLimits = USUAL_LIMITS,
    ) -> None:
        self._connection = Connection(region, url, max_retries, timeout_seconds)
        super().__init__(self._connection, model, timeout_seconds, limits)

    async def decide(
        self, messages: Sequence[Message], *, name: str, output_type: type[Output], seconds: float
    ) -> Structured[Output]:
        """A structured output. ModelOutputInvalid says what is wrong with it, fit for asking the model once more."""
        schema = response_format(name, output_type)["json_schema"]["schema"]
        tool = ToolDefinition(name, f"Takes the answer, as a {name}.", schema)
        options = {"toolConfig": {"tools": [_wire_tool(tool)], "toolChoice": {"tool": {"name": name}}}}
        answer, usage = await self._converse(messages, seconds, self._limits.decision_tokens, options)
        given = next((json.dumps(call.input) for call in answer.calls if call.name == name), answer.text)
        return Structured(read_output(storable(given), name, output_type), usage)

    async def take_turn(self, messages: Sequence[Message], *, tools: Sequence[ToolDefinition], seconds: float) -> Turn:
        """One turn in which the model may call tools. ModelOutputInvalid if it neither writes nor calls."""
        answer, usage = await self._converse(messages, seconds, self._limits.turn_tokens, _offered(tools), bool(tools))
        calls = tuple(
            ToolCall(id=call.toolUseId, name=call.name, arguments=storable(json.dumps(call.input)))
            for call in answer.calls
        )
        check_written(bool(answer.text or calls))
        return Turn(text=answer.text, tool_calls=calls, usage=usage)

    def _request(
        self, messages: Sequence[Message], max_tokens: int, options: dict[str, Any], calls_tools: bool
    ) -> dict[str, Any]:
        system = [{"text": each.content} for each in messages if each.role == "system" and each.content.strip()]
        return {
            "modelId": self.name,
            "messages": _wire_messages(messages, calls_tools),
            "inferenceConfig": {"maxTokens": max_tokens},
            **({"system": system} if system else {}),
            **options,
        }

    async def _converse(
        self,
        messages: Sequence[Message],
        seconds: float,
        max_tokens: int,
        options: dict[str, Any],
        calls_tools: bool = False,
    ) -> tuple[_AnswerMessage, Usage]:
        """The model's message and what it cost. Raises when the model refused or was cut off."""
        request = self._request(messages, max_tokens, options, calls_tools)
        client = await self._connection.open()
        with translated():
            async with asyncio.timeout(min(seconds, self._timeout_seconds)):
                response = await self._connection.in_thread(lambda: client.converse(**request))
            answer = _Answer.model_validate(response)
        check_ending(answer.stopReason)
        check_length(answer.output.message.characters, max_tokens)
        return answer.output.message, _usage(answer.usage)

    async def _pieces(
        self, messages: Sequence[Message], tools: Sequence[ToolDefinition], seconds: float, keep: Keep
    ) -> AsyncGenerator[str]:
        stop_reason: str | None = None
        characters = 0
        called: dict[int, ToolCall] = {}
        request = self._request(messages, self._limits.answer_tokens, _offered(tools), calls_tools=bool(tools))
        await self._connection.open()
        deadline = asyncio.get_running_loop().time() + seconds
        with translated():
            async with asyncio.timeout(min(seconds, self._timeout_seconds)):
                stream = await self._connection.open_stream(**request)
            try:
                while (event := await self._next_event(stream, deadline)) is not None:
                    if event.metadata:
                        keep(_usage(event.metadata.usage))
                    if event.messageStop:
                        stop_reason = event.messageStop.stopReason
                    characters += event.characters
                    check_length(characters, self._limits.answer_tokens)
                    event.collect(called)
                    if piece := event.piece:
                        yield piece
            finally:
                stream.close()
        check_stream(stop_reason, characters)
        keep(tuple(replace(call, arguments=call.arguments or "{}") for _, call in sorted(called.items())))

    async def _next_event(self, stream: EventStream, deadline: float) -> _Event | None:
        """The next event, None at the end. TimeoutError past the wait for a piece, or `deadline` by the event loop's clock."""
        # one timeout an event: if it stayed open while the caller works on a piece, it would cancel the caller's work
        async with asyncio.timeout_at(min(deadline, asyncio.get_running_loop().time() + self._timeout_seconds)):
            event = await stream.next()
        return None if event is None else _Event.model_validate(event)


class _WireUsage(Wire):
    inputTokens: int = 0  # noqa: N815 -- the wire's name, as all of these
    outputTokens: int = 0  # noqa: N815


class _ToolUse(Wire):
    toolUseId: str  # noqa: N815
    name: str
    input: Any = None


class _Block(Wire):
    text: StorableText | None = None
    toolUse: _ToolUse | None = None  # noqa: N815


class _AnswerMessage(Wire):
    content: list[_Block]

    @property
    def text(self) -> str:
        return "".join(block.text or "" for block in self.content)

    @property
    def calls(self) -> list[_ToolUse]:
        return [block.toolUse for block in self.content if block.toolUse]

    @property
    def characters(self) -> int:
        """How much the model wrote."""
        return len(self.text) + sum(len(call.name) + len(json.dumps(call.input)) for call in self.calls)


class _AnswerOutput(Wire):
    message: _AnswerMessage


class _Answer(Wire):
    output: _AnswerOutput
    stopReason: str  # noqa: N815
    usage: _WireUsage | None = None


class _InputDelta(Wire):
    input: StorableText | None = None


class _BlockDelta(Wire):
    text: StorableText | None = None
    toolUse: _InputDelta | None = None  # noqa: N815


class _Delta(Wire):
    contentBlockIndex: int = 0  # noqa: N815
    delta: _BlockDelta | None = None


class _BlockStart(Wire):
    toolUse: _ToolUse | None = None  # noqa: N815


class _Start(Wire):
    contentBlockIndex: int = 0  # noqa: N815
    start: _BlockStart | None = None


class _Stop(Wire):
    stopReason: str  # noqa: N815


class _Metadata(Wire):
    usage: _WireUsage | None = None


class _Event(Wire):
    contentBlockStart: _Start | None = None  # noqa: N815
    contentBlockDelta: _Delta | None = None  # noqa: N815
    messageStop: _Stop | None = None  # noqa: N815
    metadata: _Metadata | None = None

    @property
    def piece(self) -> str:
        delta = self.contentBlockDelta.delta if self.contentBlockDelta else None
        return (delta.text if delta else None) or ""

    @property
    def characters(self) -> int:
        """How much the model wrote in it."""
        started = self.contentBlockStart.start if self.contentBlockStart else None
        name = started.toolUse.name if started and started.toolUse else ""
        return len(self.piece) + len(self._input) + len(name)

    @property
    def _input(self) -> str:
        delta = self.contentBlockDelta.delta if self.contentBlockDelta else None
        return (delta.toolUse.input if delta and delta.toolUse else None) or ""

    def collect(self, called: dict[int, ToolCall]) -> None:
        """Put the pieces of tool calls together, each by the index of its block."""
        started = self.contentBlockStart
        if started and started.start and (tool := started.start.toolUse):
            called[started.contentBlockIndex] = ToolCall(tool.toolUseId, tool.name, "")
        if self.contentBlockDelta and (call := called.get(index := self.contentBlockDelta.contentBlockIndex)):
            called[index] = replace(call, arguments=call.arguments + self._input)


def _offered(tools: Sequence[ToolDefinition]) -> dict[str, Any]:
    return {"toolConfig": {"tools": [_wire_tool(tool) for tool in tools]}} if tools else {}


def _usage(usage: _WireUsage | None) -> Usage:
    return Usage(usage.inputTokens, usage.outputTokens) if usage else Usage()


def _wire_tool(tool: ToolDefinition) -> dict[str, Any]:
    specification = {"name": tool.name, "inputSchema": {"json": tool.parameters}}
    if tool.description.strip():
        specification["description"] = tool.description
    return {"toolSpec": specification}


def _wire_messages(messages: Sequence[Message], calls_tools: bool) -> list[dict[str, Any]]:
    """The conversation by turns: users' and assistants' alternate, a user's is first, and no text is blank.

    Bedrock refuses calls and results of tools in a request that offers none: there they are sent as text.
    """
    turns: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = [] if message.role == "system" else list(_blocks(message, calls_tools))
        if not blocks:
            continue
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    if not turns or turns[0]["role"] != "user":
        turns.insert(0, {"role": "user", "content": [{"text": "Go on."}]})
    return turns


def _blocks(message: Message, calls_tools: bool) -> Iterator[dict[str, Any]]:
    if message.tool_call_id is not None:
        text = message.content if message.content.strip() else "Nothing."
        if calls_tools:
            yield {"toolResult": {"toolUseId": message.tool_call_id, "content": [{"text": text}]}}
        else:
            yield {"text": f"Result: {text}"}
        return
    if message.content.strip():
        yield {"text": message.content}
    for call in message.tool_calls:
        if calls_tools:
            yield {"toolUse": {"toolUseId": call.id, "name": call.name, "input": _arguments(call)}}
        else:
            yield {"text": f"Called {call.name}: {call.arguments}"}


def _arguments(call: ToolCall) -> dict[str, Any]:
    """What a model said the arguments were, as the object that Bedrock wants: it may have written something else."""
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}
