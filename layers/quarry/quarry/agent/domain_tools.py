"""What agents get: tools with described arguments and small results, resources by address, and prompts for common tasks. The
Model Context Protocol serves them, and `quarry tools` prints them in OpenAI's function format.

Results fit into an agent's context: long texts and long lists are cut, and the result says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

from pydantic import BaseModel, ValidationError

from quarry.models.answers import read_arguments, tool_parameters, tool_result
from quarry.platform.contract import place_in, pointer_to
from quarry.platform.errors import BodyTooLarge, FieldError, InvalidInput
from quarry.platform.off_loop import off_loop
from quarry.services.services import Caller, Services

RESULT_CHARACTERS_MAX = 40_000
"""The most characters of a tool's result, as JSON."""
RESOURCE_CHARACTERS_MAX = 200_000
"""The most characters of a resource that a user chose to read."""

DEPTH_MAX = 6
"""In a result that is too long, deeper levels become text."""
NAMES_MAX = 40
"""The most fields of one object in a result that is too long; our own objects have fewer."""

# the longest text and the longest list of successive tries
_TRIES = ((20_000, 400), (8_000, 200), (3_000, 100), (1_000, 50), (400, 30), (150, 15), (60, 6), (20, 2))

TOO_LONG = BodyTooLarge("This result is too long, even with shortened texts. Ask for fewer rows or fields.")

RESULTS_MAX = 20
"""The most results of one call: an agent's context is small, and it can get more by the id of a result."""

TEXT_CHARACTERS_MAX = 600
"""The most characters of one text within a list of results."""

ERRORS_MAX = 10
"""The most invalid arguments of one call that are reported."""

_VARIABLE = re.compile(r"{(\w+)}")


class AgentTool(NamedTuple):
    """One tool. `run` gets validated arguments, and the caller and services, which an agent cannot choose; `result` is the type
    that it returns. `route_class` is the rate limit that a call counts against. A tool that `spends` credits is offered only if
    the caller allows it.
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
    """Arguments that are accepted but not described, since agents do not need them."""
    is_former: bool = False
    """A name of an earlier release: it can still be called, and is not listed."""

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
                # by the protocol, the other hints have a meaning only for tools that write
                **({"destructiveHint": False, "idempotentHint": False} if self.spends else {}),
                "openWorldHint": False,
            },
        }

    async def call(self, arguments: Mapping[str, Any], caller: Caller, services: Services) -> dict[str, Any]:
        """Validate arguments and run the tool. Raises InvalidInput, and what the search raises."""
        result = await self.run(await off_loop(_validated, self.arguments, arguments), caller, services)
        return await off_loop(bounded, result, RESULT_CHARACTERS_MAX)


class AgentResource(NamedTuple):
    """A resource with a fixed address."""

    uri: str
    name: str
    title: str
    description: str
    read: Callable[[Caller, Services], Awaitable[dict[str, Any]]]


class AgentTemplate(NamedTuple):
    """Resources whose `uri` has variables in braces. `read` gets the `type` and the `id`."""

    uri: str
    name: str
    title: str
    description: str
    read: Callable[[str, str, Caller, Services], Awaitable[dict[str, Any]]]

    def addressed(self, uri: str) -> tuple[str, str] | None:
        """The `type`, empty if the address has none, and the `id` in an address; None if it has another form."""
        prefix, _, variables = self.uri.partition("{")
        if not uri.startswith(prefix):
            return None
        type, id = "", uri.removeprefix(prefix)
        if variables.startswith("type"):
            # an owner's id may contain a slash
            type, _, id = id.partition("/")
        return (unquote(type), unquote(id)) if id and (type or not variables.startswith("type")) else None


class AgentPrompt(NamedTuple):
    """A prompt for a common task. `text` has its `arguments` in braces; each of these has a description."""

    name: str
    title: str
    description: str
    arguments: Mapping[str, str]
    text: str

    def filled(self, arguments: Mapping[str, str]) -> str:
        """The text with the arguments filled in. Raises InvalidInput if one is missing."""
        if missing := [name for name in self.arguments if not arguments.get(name, "").strip()]:
            raise InvalidInput([FieldError(f"/{name}", f"{name}: {self.arguments[name]}") for name in missing])
        return _VARIABLE.sub(lambda variable: arguments[variable[1]], self.text)


def openai_format(tools: Sequence[AgentTool]) -> list[dict[str, Any]]:
    """The tools in the format of OpenAI's chat completions."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
        }
        for tool in tools
        if not tool.is_former
    ]


def _validated(model: type[BaseModel], arguments: Mapping[str, Any]) -> BaseModel:
    try:
        return read_arguments(model, dict(arguments))
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False, include_input=False)[:ERRORS_MAX]
        raise InvalidInput([_field_error(place_in(arguments, detail), detail["msg"]) for detail in details]) from None


def _field_error(location: Sequence[str | int], message: str) -> FieldError:
    name = ".".join(map(str, location)) or "the arguments"
    return FieldError(pointer_to(location), f"{name}: {message.removeprefix('Value error, ')}")


def bounded(result: dict[str, Any], characters_max: int = RESULT_CHARACTERS_MAX) -> dict[str, Any]:
    """The result, with texts and lists cut so that its JSON has at most `characters_max`; `shortened` is then true in it.

    Raises BodyTooLarge if it stays too long.
    """
    if _size(result) <= characters_max:
        return result
    for text_max, items_max in _TRIES:
        cut = {name: _cut(value, text_max, items_max, 1) for name, value in result.items()} | {"shortened": True}
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
