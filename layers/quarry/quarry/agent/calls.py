"""Tools as our own model calls them: what they take, what they give back, and one call, validated and in time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from quarry.models.answers import read_json_arguments
from quarry.models.interface import ToolCall, ToolDefinition
from quarry.models.schemas import tool_parameters
from quarry.platform.budget import in_time
from quarry.platform.errors import InvalidInput, NotFound, SourceUnavailable, TimeIsUp
from quarry.postgres.failures import UNREADABLE
from quarry.runs.run_log import Run


@dataclass(frozen=True)
class ToolResult:
    """What a tool found: how many things, a line for people, and the text that the model reads.

    `is_of_data`: it says something about the data, if only that a value does not exist; an answer can rest on it.
    """

    count: int
    summary: str
    text_for_model: str
    is_of_data: bool = True


Calling = Callable[[Any], Awaitable[ToolResult]]
"""What a tool does with its validated arguments."""


@dataclass(frozen=True)
class Tool:
    """A tool with validated arguments. Scope and identity are bound into `run` by its maker; a model cannot choose them."""

    name: str
    description: str
    arguments: type[BaseModel]
    run: Calling
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


NOT_IN_TIME = ToolResult(
    0, "Not searched: the time is up", "The time for searching is up. Answer from what was found.", is_of_data=False
)


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
        return NOT_IN_TIME
    try:
        async with in_time(run.budget.seconds_for_work):
            return await tool.run(arguments)
    except TimeIsUp:
        return NOT_IN_TIME


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


async def explained(
    call: Calling, arguments: Any, run: Run, step_name: str, has_found: Callable[[], bool]
) -> ToolResult:
    """What a tool finds, or why it refuses, in words for the model. Where something was found already (`has_found`), the model
    learns that the database does not answer, and `step_name` is marked degraded; where nothing was, raises DatabaseUnavailable.
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
