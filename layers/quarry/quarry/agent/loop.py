"""A conversation in which a model calls tools, several at once, and answers as soon as it can. Every turn streams and may call
tools, so an ordinary question takes two calls of the model.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from quarry.agent.calls import NOT_IN_TIME, Tool, ToolFinished, ToolResult, ToolStarted, run_once, validated
from quarry.models.interface import ChatModel, Message, TextStream, ToolCall
from quarry.platform.errors import ModelError, ModelOutputInvalid, ModelUnavailable
from quarry.runs.run_log import Run

NO_CALLS_LEFT = ToolResult(
    0, "Not asked: no calls are left", "No tool calls are left. Answer from what was found.", is_of_data=False
)


@dataclass(frozen=True)
class Text:
    """The next piece of what the model writes in this turn."""

    piece: str


@dataclass(frozen=True)
class TurnEnded:
    """The turn is complete; after one that `called` tools another follows."""

    called: bool


Happened = Text | ToolStarted | ToolFinished | TurnEnded


async def converse(
    messages: Sequence[Message],
    tools: Sequence[Tool],
    run: Run,
    *,
    step_name: str,
    max_turns: int,
    look_first: str | None = None,
) -> AsyncGenerator[Happened]:
    """What happens until the model ends a turn without calling a tool; its text of that turn is the answer.

    Calls of one turn run side by side. The last turn that `max_turns` or the budget allows offers no tools. Invalid arguments go
    back to the model as the tool's result; a repeated call is answered from memory. A model that answers before any tool has
    shown it data gets `look_first`, once. Raises ModelError when the model fails; the step is then marked degraded.
    """
    said = list(messages)
    results: dict[tuple[str, str], ToolResult] = {}
    has_looked = False
    for turn in range(1, max_turns + 1):
        offered = tools if turn < max_turns and run.budget.calls_left and run.budget.allows_turn() else ()
        text = ""
        calls: tuple[ToolCall, ...] = ()
        async with aclosing(_turn(said, offered, run, step_name)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Text):
                    text += piece.piece
                    yield piece
                else:
                    calls = piece
        yield TurnEnded(bool(calls))
        said.append(Message("assistant", text, tool_calls=calls))
        if not calls:
            if look_first is None or has_looked or not offered:
                return
            said.append(Message("user", look_first))
            look_first = None
            continue
        found: dict[str, ToolResult] = {}
        async with aclosing(_called(calls, tools, run, results)) as events:
            async for event in events:
                if isinstance(event, ToolFinished):
                    found[event.id] = event.result
                    has_looked = has_looked or event.result.is_of_data
                    if event.result is NOT_IN_TIME:
                        run.degrade(step_name)
                yield event
        said += [Message("tool", found[call.id].text_for_model, tool_call_id=call.id) for call in calls]


async def _turn(
    messages: Sequence[Message], tools: Sequence[Tool], run: Run, step_name: str
) -> AsyncGenerator[Text | tuple[ToolCall, ...]]:
    """The text of a turn piece by piece, then the calls that it makes."""
    with run.step(step_name) as record:
        try:
            if run.chat is None or not run.budget.seconds_left:
                raise ModelUnavailable("The search's time is spent.")
            stream = _begin(messages, tools, run, run.chat)
            written = False
            try:
                async with aclosing(stream.pieces) as pieces:
                    async for piece in pieces:
                        written = written or bool(piece.strip())
                        yield Text(piece)
            finally:
                record.usage += stream.usage
                run.budget.tokens += stream.usage.total
            if not written and not stream.tool_calls:
                raise ModelOutputInvalid("The model wrote nothing.")
        except ModelError:
            run.degrade(step_name, record)
            raise
        record.counts["tool_calls"] = len(stream.tool_calls)
        yield _with_own_ids(stream.tool_calls) if tools else ()


def _begin(messages: Sequence[Message], tools: Sequence[Tool], run: Run, chat: ChatModel) -> TextStream:
    run.budget.spend_turn()
    return chat.stream(messages, tools=[tool.definition for tool in tools], seconds=run.budget.seconds_left)


def _with_own_ids(calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    """The calls, each with an id that no other of the turn has: some servers send the same one for all."""
    ids = [call.id for call in calls]
    if len({*ids}) == len(ids):
        return tuple(calls)
    return tuple(ToolCall(f"{call.id}_{place}", call.name, call.arguments) for place, call in enumerate(calls, start=1))


async def _called(
    calls: Sequence[ToolCall], tools: Sequence[Tool], run: Run, results: dict[tuple[str, str], ToolResult]
) -> AsyncGenerator[ToolStarted | ToolFinished]:
    """Run the calls side by side; each event as it happens."""
    by_name = {tool.name: tool for tool in tools}
    at_work: dict[asyncio.Task[ToolResult], ToolCall] = {}
    try:
        for call in calls:
            arguments, problem = validated(by_name, call)
            yield ToolStarted(call.id, call.name, _as_json(arguments))
            if arguments is None:
                yield ToolFinished(call.id, call.name, ToolResult(0, problem, problem, is_of_data=False))
            elif not run.budget.calls_left:
                yield ToolFinished(call.id, call.name, NO_CALLS_LEFT)
            else:
                run.budget.spend_call()
                task = asyncio.create_task(run_once(by_name[call.name], arguments, run, results))
                at_work[task] = call
        while at_work:
            done, _ = await asyncio.wait(at_work, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                call = at_work.pop(task)
                yield ToolFinished(call.id, call.name, task.result())
    finally:
        for task in at_work:
            task.cancel()
        await asyncio.gather(*at_work, return_exceptions=True)


def _as_json(arguments: BaseModel | None) -> dict[str, Any]:
    return arguments.model_dump(mode="json", by_alias=True, exclude_defaults=True) if arguments else {}
