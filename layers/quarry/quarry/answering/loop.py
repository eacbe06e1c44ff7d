"""The loop over tools, the same behind every door: a conversation in which the model calls several tools at once and answers as
soon as it can. Every turn streams and may call tools, so an ordinary question takes two calls of the model. No call is demanded:
a refusal, small talk and a question back are answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from quarry.language.messages import gettext
from quarry.models.answers import read_arguments, tool_parameters
from quarry.models.interface import Message, ToolCall, ToolDefinition
from quarry.models.step import streamed
from quarry.platform.budget import in_time
from quarry.platform.errors import InvalidInput, ModelError, ModelOutputInvalid, NotFound, SourceUnavailable, TimeIsUp
from quarry.postgres.connections import UNREADABLE
from quarry.runs.run_log import Run
from quarry.streaming.events import Event


@dataclass(frozen=True)
class ToolResult:
    """The result of a tool: a count, a line for people, and the text for the model."""

    count: int
    summary: str
    text_for_model: str


Working = Callable[[Any], Awaitable[ToolResult] | AsyncGenerator[Event | ToolResult]]
"""The work of a tool, given its validated arguments. One that takes several steps yields their events, and last its result."""


class Tool(NamedTuple):
    """A tool with validated arguments. Scope and identity are bound into `run`; a model cannot choose them."""

    name: str
    description: str
    arguments: type[BaseModel]
    run: Working
    unlisted: frozenset[str] = frozenset()
    """Arguments that are accepted but not described."""

    @property
    def definition(self) -> ToolDefinition:
        return ToolDefinition(self.name, self.description, tool_parameters(self.arguments, self.unlisted))


class ToolStarted(NamedTuple):
    id: str
    tool: str
    arguments: dict[str, Any]


class ToolFinished(NamedTuple):
    id: str
    tool: str
    result: ToolResult


class ToolProgress(NamedTuple):
    """An event of a tool at work."""

    event: Event


NOT_IN_TIME = ToolResult(
    0, gettext("Not searched: the time is up"), "The time for searching is up. Answer from what was found."
)


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


NO_CALLS_LEFT = ToolResult(
    0, gettext("Not asked: no calls are left"), "No tool calls are left. Answer from what was found."
)


class Text(NamedTuple):
    """The next piece of the model's text in this turn."""

    piece: str


class TurnEnded(NamedTuple):
    """The turn is complete; if it `has_calls` of tools, another one follows."""

    has_calls: bool


TurnEvent = Text | ToolStarted | ToolProgress | ToolFinished | TurnEnded


async def converse(
    messages: Sequence[Message],
    tools: Sequence[Tool],
    run: Run,
    *,
    step_name: str,
    max_turns: int,
    has_found: Callable[[], bool] = lambda: False,
) -> AsyncGenerator[TurnEvent]:
    """The events until the model ends a turn without calling a tool; its text of that turn is the answer.

    Calls of one turn run concurrently. The last turn that `max_turns` or the budget allows offers no tools. What a tool refuses
    goes back to the model as its result, and so does a database that does not answer after something was found (`has_found`); a
    repeated call is answered from memory. Raises ModelError if the model fails, and DatabaseUnavailable; a step that failed or
    was not finished in time is marked as degraded.
    """
    conversation = list(messages)
    at_work = _ToolsAtWork({tool.name: tool for tool in tools}, run, step_name, has_found)
    for turn in range(1, max_turns + 1):
        offered = tools if turn < max_turns and run.budget.calls_left and run.budget.allows_turn() else ()
        text, waited = "", run.budget.waited
        calls: tuple[ToolCall, ...] = ()
        async with aclosing(_turn(conversation, offered, run, step_name)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Text):
                    text += piece.piece
                    yield piece
                else:
                    calls = piece
        yield TurnEnded(bool(calls))
        conversation.append(Message("assistant", text, tool_calls=calls))
        if not calls:
            return
        results: dict[str, ToolResult] = {}
        async with aclosing(at_work.run_all(calls)) as events:
            async for event in events:
                if isinstance(event, ToolFinished):
                    results[event.id] = event.result
                yield event
        if any(each.count for each in results.values()):
            run.budget.waited = waited
        conversation += [Message("tool", results[call.id].text_for_model, tool_call_id=call.id) for call in calls]


async def _turn(
    messages: Sequence[Message], tools: Sequence[Tool], run: Run, step_name: str
) -> AsyncGenerator[Text | tuple[ToolCall, ...]]:
    """The text of a turn piece by piece, then its tool calls."""
    with run.step(step_name) as record:
        try:
            has_text, calls = False, tuple[ToolCall, ...]()
            async with aclosing(streamed(messages, run, record, tools=[tool.definition for tool in tools])) as parts:
                async for part in parts:
                    if isinstance(part, str):
                        has_text = has_text or bool(part.strip())
                        yield Text(part)
                    else:
                        calls = part
            if not has_text and not calls:
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


_Happened = asyncio.Queue[ToolProgress | ToolFinished | Exception]


@dataclass
class _ToolsAtWork:
    """The tools of a conversation, and what they answered so far by name and arguments."""

    tools: Mapping[str, Tool]
    run: Run
    step_name: str
    has_found: Callable[[], bool]
    _results: dict[tuple[str, str], ToolResult] = field(default_factory=dict)

    async def run_all(self, calls: Sequence[ToolCall]) -> AsyncGenerator[ToolStarted | ToolProgress | ToolFinished]:
        """Run the calls concurrently, and yield each event as it happens."""
        happened: _Happened = asyncio.Queue()
        tasks: list[asyncio.Task[None]] = []
        try:
            for call in calls:
                arguments, problem = validated(self.tools, call)
                yield ToolStarted(call.id, call.name, _as_json(arguments))
                if arguments is None:
                    yield ToolFinished(call.id, call.name, ToolResult(0, problem, problem))
                elif not self.run.budget.calls_left:
                    yield ToolFinished(call.id, call.name, NO_CALLS_LEFT)
                else:
                    self.run.budget.spend_call()
                    tasks.append(asyncio.create_task(self._carry_out(call, arguments, happened)))
            unfinished = len(tasks)
            while unfinished:
                event = await happened.get()
                if isinstance(event, Exception):
                    raise event
                unfinished -= isinstance(event, ToolFinished)
                yield event
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _carry_out(self, call: ToolCall, arguments: BaseModel, happened: _Happened) -> None:
        """Put what happens during a call into the queue, last its result or what it raised."""
        tool, key = self.tools[call.name], (call.name, arguments.model_dump_json())
        try:
            if key not in self._results:
                self._results[key] = await self._result(tool, arguments, happened)
            happened.put_nowait(ToolFinished(call.id, call.name, self._results[key]))
        except Exception as error:
            happened.put_nowait(error)

    async def _result(self, tool: Tool, arguments: BaseModel, happened: _Happened) -> ToolResult:
        """The result of a tool within the time of the budget, or why there is none, in words for the model."""
        try:
            async with in_time(self.run.budget.seconds_for_work):
                return await _worked(tool.run(arguments), happened)
        except TimeIsUp:
            self.run.degrade(self.step_name)
            return NOT_IN_TIME
        except InvalidInput as error:
            problems = "; ".join(f"{each.pointer}: {each.message}" for each in error.errors)
            return ToolResult(0, gettext("Refused"), f"Refused. {problems}")
        except NotFound as error:
            return ToolResult(0, gettext("Nothing found"), error.public_message)
        except SourceUnavailable as error:
            for name in error.names:
                self.run.degrade(f"collection:{name}")
            return ToolResult(0, gettext("Not read"), error.public_message)
        except UNREADABLE:
            if not self.has_found():
                raise
            self.run.degrade(self.step_name)
            return ToolResult(0, gettext("Not read"), "The database did not answer.")


async def _worked(work: Awaitable[ToolResult] | AsyncGenerator[Event | ToolResult], happened: _Happened) -> ToolResult:
    """The result of the work; the events of its steps go into the queue."""
    if not isinstance(work, AsyncGenerator):
        return await work
    result = NOT_IN_TIME
    async with aclosing(work) as events:
        async for event in events:
            if isinstance(event, ToolResult):
                result = event
            else:
                happened.put_nowait(ToolProgress(event))
    return result


def _as_json(arguments: BaseModel | None) -> dict[str, Any]:
    return arguments.model_dump(mode="json", by_alias=True, exclude_defaults=True) if arguments else {}
