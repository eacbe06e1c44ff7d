"""Arguments of tools, as language models send them: a single value is taken where a list is expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json, to_json

Arguments = TypeVar("Arguments", bound=BaseModel)

_Place = tuple[int | str, ...]


def read_arguments(model: type[Arguments], given: Mapping[str, Any]) -> Arguments:
    """Validate arguments. Raises ValidationError."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        if not (places := _expected_lists(error)):
            raise
    return model.model_validate(_with_lists(given, places))


def read_json_arguments(model: type[Arguments], given: str) -> Arguments:
    """Validate arguments that are written as JSON. Raises ValidationError."""
    try:
        return model.model_validate_json(given)
    except ValidationError as error:
        if not (places := _expected_lists(error)):
            raise
    return model.model_validate_json(to_json(_with_lists(from_json(given), places)))


def _expected_lists(error: ValidationError) -> list[_Place]:
    """Where there is a single value in place of a list."""
    problems = error.errors(include_url=False, include_context=False)
    return [
        each["loc"] for each in problems if each["type"] == "list_type" and not isinstance(each["input"], dict | None)
    ]


def _with_lists(given: Any, places: Sequence[_Place]) -> Any:
    """`given` with the value at each of `places` as a list of one."""
    changed = deepcopy(given)
    for *parents, last in places:
        try:
            holder = changed
            for part in parents:
                holder = holder[part]
            holder[last] = [holder[last]]
        except (LookupError, TypeError):
            # a step of the model's own, such as the branch of a union
            continue
    return changed
