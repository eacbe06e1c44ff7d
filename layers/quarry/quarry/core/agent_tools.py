"""Tools for other people's agents: the searches of a domain as functions with described arguments and small results.

The same definitions are served over the Model Context Protocol and printed in OpenAI's function format.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from quarry.core.errors import FieldError, InvalidInput
from quarry.core.off_loop import off_loop
from quarry.core.services import Caller, Services

RESULTS_MAX = 20
"""Results of one call at most: an agent's context is small, and every result has an id to follow."""

TEXT_CHARACTERS_MAX = 600
"""Characters of one text within a list of results."""

ERRORS_MAX = 10
"""Wrong arguments of one call that are told."""


@dataclass(frozen=True)
class AgentTool:
    """One tool. `run` gets validated arguments, and the caller and services that an agent cannot choose.

    `route_class` says which of the caller's rate limits a call counts against.
    """

    name: str
    title: str
    description: str
    arguments: type[BaseModel]
    run: Callable[[Any, Caller, Services], Awaitable[dict[str, Any]]]
    route_class: Literal["model", "plain"] = "plain"

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        schema = self.arguments.model_json_schema()
        return {key: value for key, value in schema.items() if key not in ("title", "description")}

    @property
    def listing(self) -> dict[str, Any]:
        """The tool as the Model Context Protocol lists it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.parameters,
            "annotations": {"readOnlyHint": True, "openWorldHint": False},
        }

    async def call(self, arguments: dict[str, Any], caller: Caller, services: Services) -> dict[str, Any]:
        """Call it with arguments as they came. Raises InvalidInput, and what the search raises."""
        return await self.run(await off_loop(_validated, self.arguments, arguments), caller, services)


def openai_format(tools: Sequence[AgentTool]) -> list[dict[str, Any]]:
    """The tools as OpenAI's chat completions take them."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
        }
        for tool in tools
    ]


def _validated(model: type[BaseModel], arguments: dict[str, Any]) -> BaseModel:
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False, include_input=False)[:ERRORS_MAX]
        raise InvalidInput([_field_error(detail["loc"], detail["msg"]) for detail in details]) from None


def _field_error(location: Sequence[str | int], message: str) -> FieldError:
    pointer = "".join(f"/{part}" for part in location)
    name = ".".join(str(part) for part in location) or "the arguments"
    return FieldError(pointer, f"{name}: {message.removeprefix('Value error, ')}")
