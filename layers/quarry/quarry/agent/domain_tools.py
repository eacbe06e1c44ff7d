"""What agents are offered: tools with described arguments and small results, resources by address, and prompts for common tasks.
The Model Context Protocol serves them, and `quarry tools` prints them in OpenAI's function format.

Results have the size that an agent's context takes: long texts and long lists are cut, and that is said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Literal
from urllib.parse import unquote

from pydantic import BaseModel, ValidationError

from quarry.models.answers import read_arguments
from quarry.models.schemas import tool_parameters, tool_result
from quarry.platform.errors import BodyTooLarge, FieldError, InvalidInput
from quarry.platform.off_loop import off_loop
from quarry.platform.validation import place_in
from quarry.services.services import Caller, Services

RESULT_CHARACTERS_MAX = 40_000
"""Of a tool's result, as JSON."""
RESOURCE_CHARACTERS_MAX = 200_000
"""Of a resource that an agent's user chose to read."""

DEPTH_MAX = 6
"""In a result that is too long, deeper levels become text."""
NAMES_MAX = 40
"""The most fields of one object in a result that is too long; our own objects have fewer."""

# the longest text, and the longest list, of one try after another
_TRIES = ((20_000, 400), (8_000, 200), (3_000, 100), (1_000, 50), (400, 30), (150, 15), (60, 6), (20, 2))

TOO_LONG = BodyTooLarge("This result is too long, even with shortened texts. Ask for fewer rows or fields.")

RESULTS_MAX = 20
"""Results of one call at most: an agent's context is small, and every result has an id to follow."""

TEXT_CHARACTERS_MAX = 600
"""Characters of one text within a list of results."""

ERRORS_MAX = 10
"""Wrong arguments of one call that are told."""

_VARIABLE = re.compile(r"{(\w+)}")


@dataclass(frozen=True)
class AgentTool:
    """One tool. `run` gets validated arguments, and the caller and services that an agent cannot choose; `result` is the type
    that it returns. `route_class` is the rate limit that a call counts against. A tool that `spends` credits is offered only
    where the caller allows it.
    """

    name: str
    title: str
    description: str
    arguments: type[BaseModel]
    result: type[BaseModel]
    run: Callable[[Any, Caller, Services], Awaitable[dict[str, Any]]]
    route_class: Literal["model", "plain"] = "plain"
    spends: bool = False
    unlisted: frozenset[str] = frozenset()
    """Arguments that are taken and not described, since no agent needs them."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        return {**tool_parameters(self.arguments, self.unlisted), "additionalProperties": False}

    @property
    def listing(self) -> dict[str, Any]:
        """The tool as the Model Context Protocol lists it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.parameters,
            "outputSchema": tool_result(self.result),
            "annotations": {
                "title": self.title,
                "readOnlyHint": not self.spends,
                # the protocol gives the other hints a meaning for tools that write alone
                **({"destructiveHint": False, "idempotentHint": False} if self.spends else {}),
                "openWorldHint": False,
            },
        }

    async def call(self, arguments: Mapping[str, Any], caller: Caller, services: Services) -> dict[str, Any]:
        """Call it with arguments as they came. Raises InvalidInput, and what the search raises."""
        found = await self.run(await off_loop(_validated, self.arguments, arguments), caller, services)
        return await off_loop(bounded, found, RESULT_CHARACTERS_MAX)


@dataclass(frozen=True)
class AgentResource:
    """Something that can be read by its address alone."""

    uri: str
    name: str
    title: str
    description: str
    read: Callable[[Caller, Services], Awaitable[dict[str, Any]]]


@dataclass(frozen=True)
class AgentTemplate:
    """Things that can be read by their addresses: `uri` has variables in braces. `read` is given the `type` and the `id`."""

    uri: str
    name: str
    title: str
    description: str
    read: Callable[[str, str, Caller, Services], Awaitable[dict[str, Any]]]

    def addressed(self, uri: str) -> dict[str, str] | None:
        """The values of the variables in an address; None where it is no address of these things."""
        match = self._address.fullmatch(uri)
        return {name: unquote(value) for name, value in match.groupdict().items()} if match else None

    @cached_property
    def _address(self) -> re.Pattern[str]:
        names = _VARIABLE.findall(self.uri)
        literals = _VARIABLE.split(self.uri)[::2]
        # an owner's id may hold a slash, and stands last
        values = [rf"(?P<{name}>{'.+' if name == names[-1] else '[^/]+'})" for name in names]
        parts = [re.escape(literals[0])]
        for value, literal in zip(values, literals[1:], strict=True):
            parts += [value, re.escape(literal)]
        return re.compile("".join(parts), re.DOTALL)


@dataclass(frozen=True)
class AgentPrompt:
    """A common task in words that use the tools. `text` names its `arguments`, each with what it is, in braces."""

    name: str
    title: str
    description: str
    arguments: Mapping[str, str]
    text: str

    def filled(self, given: Mapping[str, str]) -> str:
        """The task with the arguments put in. Raises InvalidInput for one that is missing."""
        if missing := [name for name in self.arguments if not given.get(name, "").strip()]:
            raise InvalidInput([FieldError(f"/{name}", f"{name}: {self.arguments[name]}") for name in missing])
        return _VARIABLE.sub(lambda variable: given[variable[1]], self.text)


def openai_format(tools: Sequence[AgentTool]) -> list[dict[str, Any]]:
    """The tools as OpenAI's chat completions take them."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
        }
        for tool in tools
    ]


def _validated(model: type[BaseModel], arguments: Mapping[str, Any]) -> BaseModel:
    try:
        return read_arguments(model, dict(arguments))
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False, include_input=False)[:ERRORS_MAX]
        raise InvalidInput([_field_error(place_in(arguments, detail), detail["msg"]) for detail in details]) from None


def _field_error(location: Sequence[str | int], message: str) -> FieldError:
    pointer = "".join(f"/{part}" for part in location)
    name = ".".join(str(part) for part in location) or "the arguments"
    return FieldError(pointer, f"{name}: {message.removeprefix('Value error, ')}")


def bounded(found: dict[str, Any], characters_max: int = RESULT_CHARACTERS_MAX) -> dict[str, Any]:
    """`found`, cut where its JSON would be longer than `characters_max`; then `shortened` is true in it.

    Raises BodyTooLarge for what stays too long.
    """
    if _size(found) <= characters_max:
        return found
    for text_max, items_max in _TRIES:
        cut = {name: _cut(value, text_max, items_max, 1) for name, value in found.items()} | {"shortened": True}
        if _size(cut) <= characters_max:
            return cut
    raise TOO_LONG


def _cut(value: Any, text_max: int, items_max: int, depth: int) -> Any:
    if isinstance(value, dict | list) and depth >= DEPTH_MAX:
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        left_out = len(value) - text_max
        return value if left_out <= 0 else f"{value[:text_max]}… [{left_out:,} characters more]"
    if isinstance(value, list):
        return [_cut(each, text_max, items_max, depth + 1) for each in value[:items_max]]
    if isinstance(value, dict):
        return {name: _cut(each, text_max, items_max, depth + 1) for name, each in islice(value.items(), NAMES_MAX)}
    return value


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False))
