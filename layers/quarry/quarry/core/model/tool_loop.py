"""The loop in which a model calls tools until it knows enough, or its budget ends."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from quarry.core.budget import in_time
from quarry.core.errors import ModelError, TimeIsUp
from quarry.core.model.arguments import read_json_arguments
from quarry.core.model.interface import Message, ToolCall, ToolDefinition, Turn
from quarry.core.model.schemas import tool_parameters
from quarry.core.run_log import Run


@dataclass(frozen=True)
class ToolResult:
    """What a tool found: how many things, a line for people, and the text that the model reads.

    `is_of_data`: it says something about the data, if only that a value does not exist; an answer can rest on it.
    """

    count: int
    summary: str
    text_for_model: str
    is_of_data: bool = True


@dataclass(frozen=True)
class Tool:
    """A tool with validated arguments. Scope and identity are bound into `run` by its maker; a model cannot choose them."""

    name: str
    description: str
    arguments: type[BaseModel]
    run: Callable[[Any], Awaitable[ToolResult]]
    unlisted: frozenset[str] = frozenset()
    """Arguments that are taken and not described."""

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


_NOT_IN_TIME = ToolResult(
    0, "Not searched: the time is up", "The time for searching is up. Answer from what was found.", is_of_data=False
)


async def call_tools(
    messages: Sequence[Message],
    tools: Sequence[Tool],
    run: Run,
    *,
    step_name: str,
    max_turns: int,
    said: list[Message] | None = None,
    look_first: str | None = None,
) -> AsyncGenerator[ToolStarted | ToolFinished]:
    """Let the model call `tools` turn by turn. Ends when it calls none, when it fails, or when `run.budget` is spent: a tool that
    is at work when the time for work ends is stopped, and those that the turn called besides are not begun.

    The model takes at most `max_turns` turns here. Arguments that do not validate go back to it as the tool's result. A call
    repeated with the same arguments is answered from memory. A failing model marks `step_name` degraded; no ModelError is raised.
    A model that answers before any tool has shown it data gets `look_first`, once.

    What is said after `messages` is put behind what `said` holds; where the model ended the loop by itself, it ends in its text.
    """
    said = [] if said is None else said
    looked = False
    by_name = {tool.name: tool for tool in tools}
    remembered: dict[tuple[str, str], ToolResult] = {}
    for _ in range(max_turns):
        turn = await _next_turn([*messages, *said], tools, run, step_name)
        if turn is None:
            return
        calls = turn.tool_calls[: run.budget.calls_left]
        said.append(Message("assistant", turn.text, tool_calls=calls))
        if not calls:
            if looked or look_first is None:
                return
            said.append(Message("user", look_first))
            look_first = None
            continue
        for call in calls:
            run.budget.spend_call()
            arguments, problem = validated(by_name, call)
            given = arguments.model_dump(mode="json", exclude_none=True) if arguments else {}
            yield ToolStarted(call.id, call.name, given)
            if arguments is None:
                result = ToolResult(0, problem, problem, is_of_data=False)
            else:
                result = await run_once(by_name[call.name], arguments, run, remembered)
            if result is _NOT_IN_TIME:
                run.degrade(step_name)
            looked = looked or result.is_of_data
            yield ToolFinished(call.id, call.name, result)
            said.append(Message("tool", result.text_for_model, tool_call_id=call.id))


async def _next_turn(messages: Sequence[Message], tools: Sequence[Tool], run: Run, step_name: str) -> Turn | None:
    """The model's next turn; None where there is no model, no budget for one, or it fails."""
    if run.chat is None or not (run.budget.allows_turn() and run.budget.calls_left):
        return None
    with run.step(step_name) as record:
        run.budget.spend_turn()
        try:
            turn = await run.chat.take_turn(
                messages, tools=[tool.definition for tool in tools], seconds=run.budget.seconds_for_work
            )
        except ModelError:
            run.degrade(step_name, record)
            return None
        record.usage = turn.usage
        record.counts["tool_calls"] = len(turn.tool_calls)
        run.budget.tokens += turn.usage.total
    return turn


async def run_once(
    tool: Tool, arguments: BaseModel, run: Run, remembered: dict[tuple[str, str], ToolResult]
) -> ToolResult:
    """What the tool finds, while `run.budget` has time; from `remembered` where it was called with the same arguments before."""
    key = (tool.name, arguments.model_dump_json())
    if key not in remembered:
        remembered[key] = await _run_in_time(tool, arguments, run)
    return remembered[key]


async def _run_in_time(tool: Tool, arguments: BaseModel, run: Run) -> ToolResult:
    if not run.budget.seconds_for_work:
        return _NOT_IN_TIME
    try:
        async with in_time(run.budget.seconds_for_work):
            return await tool.run(arguments)
    except TimeIsUp:
        return _NOT_IN_TIME


def validated(tools: Mapping[str, Tool], call: ToolCall) -> tuple[BaseModel | None, str]:
    """The arguments, or None and what is wrong with them in words for the model."""
    tool = tools.get(call.name)
    if tool is None:
        return None, f"There is no tool {call.name[:64]!r}; the tools are {', '.join(tools)}."
    try:
        return read_json_arguments(tool.arguments, call.arguments or "{}"), ""
    except ValidationError as error:
        details = error.errors(include_input=False, include_url=False)[:5]
        problems = [": ".join([*map(str, each["loc"]), each["msg"]]) for each in details]
        if any(each["type"] == "extra_forbidden" and len(each["loc"]) == 1 for each in details):
            problems.append(f"the arguments of {tool.name} are {', '.join(tool.arguments.model_fields)}")
        return None, f"The arguments were not valid ({'; '.join(problems)}); call again with corrected ones."
