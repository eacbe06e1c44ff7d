"""Chat with Amazon Bedrock over its Converse API, which is the same for all of its models.

A structured output is requested as the arguments of a tool that the model must call.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from quarry.models.answers import (
    ServedChat,
    check_ending,
    check_length,
    check_stream,
    read_output,
    response_format,
    storable,
)
from quarry.models.connections import BedrockConnection, EventStream, bedrock_errors
from quarry.models.interface import Message, Output, StreamPart, Structured, ToolCall, ToolDefinition, Usage


class BedrockChat(ServedChat[BedrockConnection]):
    """A ChatModel over Converse. `model` is the id or ARN of a model or inference profile."""

    async def decide(
        self, messages: Sequence[Message], *, name: str, output_type: type[Output], seconds: float
    ) -> Structured[Output]:
        """A structured output. ModelOutputInvalid describes the problem, so that the model can be asked again."""
        schema = response_format(name, output_type)["json_schema"]["schema"]
        tool = ToolDefinition(name, f"Takes the answer, as a {name}.", schema)
        options = {"toolConfig": {"tools": [_wire_tool(tool)], "toolChoice": {"tool": {"name": name}}}}
        tokens = self._limits.of_decision(output_type)
        request = self._request(messages, tokens, options, calls_tools=False)
        client = await self._connection.open()
        with bedrock_errors():
            async with asyncio.timeout(min(seconds, self._timeout_seconds)):
                response = await self._connection.in_thread(lambda: client.converse(**request))
            answer, ended = _Answer.of(response["output"]["message"]["content"]), response["stopReason"]
        check_ending(ended)
        check_length(answer.characters, tokens)
        argument_text = next((_input(call) for call in answer.calls if call["name"] == name), answer.text)
        return Structured(read_output(storable(argument_text), name, output_type), _usage(response.get("usage")))

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

    async def stream(
        self, messages: Sequence[Message], *, tools: Sequence[ToolDefinition] = (), seconds: float
    ) -> AsyncGenerator[StreamPart]:
        """One turn, piece by piece."""
        stop_reason: str | None = None
        characters = 0
        calls: dict[int, ToolCall] = {}
        request = self._request(messages, self._limits.answer_tokens, _offered(tools), calls_tools=bool(tools))
        await self._connection.open()
        deadline = asyncio.get_running_loop().time() + seconds
        with bedrock_errors():
            async with asyncio.timeout(min(seconds, self._timeout_seconds)):
                stream = await self._connection.open_stream(**request)
            try:
                while (event := await self._next_event(stream, deadline)) is not None:
                    if "metadata" in event:
                        yield _usage(event["metadata"].get("usage"))
                    stop_reason = event.get("messageStop", {}).get("stopReason", stop_reason)
                    piece, length = _collect(calls, event)
                    characters += length
                    check_length(characters, self._limits.answer_tokens)
                    if piece:
                        yield piece
            finally:
                stream.close()
        check_stream(stop_reason, characters)
        if calls:
            yield tuple(call._replace(arguments=call.arguments or "{}") for _, call in sorted(calls.items()))

    async def _next_event(self, stream: EventStream, deadline: float) -> Mapping[str, Any] | None:
        """The next event, None at the end. TimeoutError past the wait for a piece, or `deadline` by the event loop's clock."""
        # one timeout per event: left open while the caller handles a piece, it would cancel the caller's work
        async with asyncio.timeout_at(min(deadline, asyncio.get_running_loop().time() + self._timeout_seconds)):
            event: Mapping[str, Any] | None = await stream.next()
            return event


class _Answer(NamedTuple):
    """A message of the model: its text, and its tool calls in wire format."""

    text: str
    calls: list[Mapping[str, Any]]

    @classmethod
    def of(cls, content: Sequence[Mapping[str, Any]]) -> _Answer:
        """The message with these blocks."""
        text = "".join(storable(block.get("text") or "") for block in content)
        return cls(text, [block["toolUse"] for block in content if block.get("toolUse")])

    @property
    def characters(self) -> int:
        """How many characters the model wrote."""
        return len(self.text) + sum(len(call["name"]) + len(_input(call)) for call in self.calls)


def _input(call: Mapping[str, Any]) -> str:
    return json.dumps(call.get("input"))


def _collect(calls: dict[int, ToolCall], event: Mapping[str, Any]) -> tuple[str, int]:
    """Join the pieces of tool calls by the index of their block; return the text of an event, and the number of characters in
    it.
    """
    started = event.get("contentBlockStart", {})
    name = ""
    if tool := started.get("start", {}).get("toolUse"):
        name = tool["name"]
        calls[started.get("contentBlockIndex", 0)] = ToolCall(tool["toolUseId"], name, "")
    block = event.get("contentBlockDelta", {})
    delta = block.get("delta", {})
    piece, argument_text = (storable(text or "") for text in (delta.get("text"), delta.get("toolUse", {}).get("input")))
    if call := calls.get(index := block.get("contentBlockIndex", 0)):
        calls[index] = call._replace(arguments=call.arguments + argument_text)
    return piece, len(piece) + len(argument_text) + len(name)


def _offered(tools: Sequence[ToolDefinition]) -> dict[str, Any]:
    return {"toolConfig": {"tools": [_wire_tool(tool) for tool in tools]}} if tools else {}


def _usage(usage: Mapping[str, int] | None) -> Usage:
    return Usage(usage.get("inputTokens", 0), usage.get("outputTokens", 0)) if usage else Usage()


def _wire_tool(tool: ToolDefinition) -> dict[str, Any]:
    specification = {"name": tool.name, "inputSchema": {"json": tool.parameters}}
    if tool.description.strip():
        specification["description"] = tool.description
    return {"toolSpec": specification}


def _wire_messages(messages: Sequence[Message], calls_tools: bool) -> list[dict[str, Any]]:
    """The conversation in turns: the user's is first, then they alternate with the assistant's, and no text is blank.

    Bedrock refuses tool calls and results in a request that offers no tools: there they are sent as text.
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
    """The arguments of a call as the object that Bedrock requires; empty if the model wrote something else."""
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}
