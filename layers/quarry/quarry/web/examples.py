"""Examples of calls in an OpenAPI document: calls that were made on the sample data, with what they were answered.

A call stands under its own name wherever it shows: at each parameter, at the request's body, at the response's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from typing_extensions import TypedDict

RECORDED = Path(__file__).resolve().parents[1] / "api" / "examples.json"

SHORTENED = "Shortened: two of each list, and of a stream the first event of each kind."


class Example(TypedDict):
    """One call. `parameters` holds the values of each by its name, as they were sent; `answer` is a text where it streamed."""

    name: str
    method: str
    path: str
    parameters: dict[str, list[str]]
    body: Any
    status: int
    media_type: str | None
    answer: Any
    is_shortened: bool


@cache
def recorded_examples() -> list[Example]:
    """The calls that this package knows."""
    return TypeAdapter(list[Example]).validate_json(RECORDED.read_bytes())


def add_examples(paths: Mapping[str, Any], examples: Iterable[Example]) -> None:
    """Write `examples` into the paths of an OpenAPI document; those of other routes are passed over."""
    for example in examples:
        if operation := paths.get(example["path"], {}).get(example["method"]):
            _add(operation, example)


def _add(operation: dict[str, Any], example: Example) -> None:
    for parameter in operation.get("parameters", []):
        if values := example["parameters"].get(parameter["name"]):
            _put(parameter, example, _typed(values, parameter["schema"]))
    if example["body"] is not None:
        _put(operation["requestBody"]["content"]["application/json"], example, example["body"])
    if media_type := example["media_type"]:
        note = {"description": SHORTENED} if example["is_shortened"] else {}
        _put(operation["responses"][str(example["status"])]["content"][media_type], example, example["answer"], note)


def _put(place: dict[str, Any], example: Example, value: Any, note: Mapping[str, str] | None = None) -> None:
    summary = example["name"].replace("_", " ").capitalize()
    place.setdefault("examples", {})[example["name"]] = {"summary": summary, **(note or {}), "value": value}


def _typed(values: list[str], schema: Mapping[str, Any]) -> Any:
    """What was sent as text, as the value that its schema describes."""
    [described, *_] = [each for each in schema.get("anyOf", [schema]) if each.get("type") != "null"]
    if described.get("type") == "array":
        return values
    return json.loads(values[0]) if described.get("type") in ("integer", "number", "boolean") else values[0]
