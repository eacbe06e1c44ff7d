"""Tools for our own model, and a conversation in which it calls several at once and answers as soon as it can. Every turn streams
and may call tools, so an ordinary question takes two calls of the model.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from quarry.models.answers import read_arguments
from quarry.models.interface import Message, ToolCall, ToolDefinition
from quarry.models.schemas import tool_parameters
from quarry.models.step import streamed
from quarry.platform.budget import in_time
from quarry.platform.errors import (
    InvalidInput,
    ModelError,
    ModelOutputInvalid,
    NotFound,
    SourceUnavailable,
    TimeIsUp,
)
from quarry.postgres.failures import UNREADABLE
from quarry.runs.run_log import Run


@dataclass(frozen=True)
class ToolResult:
    """The result of a tool: a count, a line for people, and the text for the model.

    `is_of_data`: it says something about the data, even if only that a value does not exist, so that an answer can rest on it.
    """

    count: int
    summary: str
    text_for_model: str
    is_of_data: bool = True


Calling = Callable[[Any], Awaitable[ToolResult]]
"""The work of a tool, given its validated arguments."""


@dataclass(frozen=True)
class Tool:
    """A tool with validated arguments. Scope and identity are bound into `run`; a model cannot choose them."""

    name: str
    description: str
    arguments: type[BaseModel]
    run: Calling
    unlisted: frozenset[str] = frozenset()
    """Arguments that are accepted but not described."""

    @property
    def definition(self) -> ToolDefinition:
        return ToolDefinition(self.name, self.description, tool_parameters(self.arguments, self.unlisted))


@dataclass(frozen=True)
class ToolStarted:
    id: str
    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class ToolFinished:
    id: str
    tool: str
    result: ToolResult


NOT_IN_TIME = ToolResult(
    0, "Not searched: the time is up", "The time for searching is up. Answer from what was found.", is_of_data=False
)


async def run_once(
    tool: Tool, arguments: BaseModel, run: Run, remembered: dict[tuple[str, str], ToolResult]
) -> ToolResult:
    """The result of the tool, within the time of `run.budget`; from `remembered` if it was called with the same arguments
    before.
    """
    key = (tool.name, arguments.model_dump_json())
    if key not in remembered:
        remembered[key] = await _run_in_time(tool, arguments, run)
    return remembered[key]


async def _run_in_time(tool: Tool, arguments: BaseModel, run: Run) -> ToolResult:
    if not run.budget.seconds_for_work:
        return NOT_IN_TIME
    try:
        async with in_time(run.budget.seconds_for_work):
            return await tool.run(arguments)
    except TimeIsUp:
        return NOT_IN_TIME


def validated(tools: Mapping[str, Tool], call: ToolCall) -> tuple[BaseModel | None, str]:
    """The arguments; or None, and the problem in words for the model."""
    tool = tools.get(call.name)
    if tool is None:
        return None, f"There is no tool {call.name[:64]!r}; the tools are {', '.join(tools)}."
    try:
        return read_arguments(tool.arguments, call.arguments or "{}"), ""
    except ValidationError as error:
        details = error.errors(include_input=False, include_url=False)[:5]
        problems = [": ".join([*map(str, each["loc"]), each["msg"]]) for each in details]
        if any(each["type"] == "extra_forbidden" and len(each["loc"]) == 1 for each in details):
            problems.append(f"the arguments of {tool.name} are {', '.join(tool.arguments.model_fields)}")
        return None, f"The arguments were not valid ({'; '.join(problems)}); call again with corrected ones."


async def explained(
    call: Calling, arguments: Any, run: Run, step_name: str, has_found: Callable[[], bool]
) -> ToolResult:
    """The result of a tool, or why it refused, in words for the model. If the database does not answer, and something was found
    before (`has_found`), the model learns this, and `step_name` is marked as degraded; else this raises DatabaseUnavailable.
    """
    try:
        return await call(arguments)
    except InvalidInput as error:
        said = "; ".join(f"{each.pointer}: {each.message}" for each in error.errors)
        return ToolResult(0, "Refused", f"Refused. {said}", is_of_data=False)
    except NotFound as error:
        return ToolResult(0, "Nothing found", error.public_message)
    except SourceUnavailable as error:
        for name in error.names:
            run.degrade(f"collection:{name}")
        return ToolResult(0, "Not read", error.public_message, is_of_data=False)
    except UNREADABLE:
        if not has_found():
            raise
        run.degrade(step_name)
        return ToolResult(0, "Not read", "The database did not answer.", is_of_data=False)


NO_CALLS_LEFT = ToolResult(
    0, "Not asked: no calls are left", "No tool calls are left. Answer from what was found.", is_of_data=False
)


@dataclass(frozen=True)
class Text:
    """The next piece of the model's text in this turn."""

    piece: str


@dataclass(frozen=True)
class TurnEnded:
    """The turn is complete; if it `called` tools, another one follows."""

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
    """The events until the model ends a turn without calling a tool; its text of that turn is the answer.

    Calls of one turn run concurrently. The last turn that `max_turns` or the budget allows offers no tools. Invalid arguments go
    back to the model as the tool's result; a repeated call is answered from memory. A model that answers before any tool has
    shown it data gets `look_first`, once. Raises ModelError if the model fails; the step is then marked as degraded.
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
    """The text of a turn piece by piece, then its tool calls."""
    with run.step(step_name) as record:
        try:
            written, calls = False, tuple[ToolCall, ...]()
            async with aclosing(streamed(messages, run, record, tools=[tool.definition for tool in tools])) as parts:
                async for part in parts:
                    if isinstance(part, str):
                        written = written or bool(part.strip())
                        yield Text(part)
                    else:
                        calls = part
            if not written and not calls:
                raise ModelOutputInvalid("The model wrote nothing.")
        except ModelError:
            run.degrade(step_name, record)
            raise
        record.counts["tool_calls"] = len(calls)
        yield _with_own_ids(calls) if tools else ()


def _with_own_ids(calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    """The calls with unique ids: some servers send the same id for all calls of a turn."""
    ids = [call.id for call in calls]
    if len({*ids}) == len(ids):
        return tuple(calls)
    return tuple(ToolCall(f"{call.id}_{place}", call.name, call.arguments) for place, call in enumerate(calls, start=1))


async def _called(
    calls: Sequence[ToolCall], tools: Sequence[Tool], run: Run, results: dict[tuple[str, str], ToolResult]
) -> AsyncGenerator[ToolStarted | ToolFinished]:
    """Run the calls concurrently, and yield each event as it happens."""
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
