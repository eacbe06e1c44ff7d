"""JSON schemas of structured outputs in the strict form that OpenAI and compatible servers accept."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel

# Keywords that OpenAI refuses (`default is not permitted`), or that only repeat a name.
_NOT_STRICT = frozenset({"title", "default", "examples", "discriminator", "minLength", "maxLength", "uniqueItems"})


@cache
def response_format(name: str, output_type: type[BaseModel]) -> dict[str, Any]:
    """The `response_format` of a request for an `output_type` under the schema name `name`."""
    schema = _strict(output_type.model_json_schema())
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


def _strict(schema: dict[str, Any]) -> dict[str, Any]:
    """A pydantic JSON schema in the form of strict structured outputs; pydantic still checks what this leaves out.

    The rules: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas. Raises TypeError for a
    mapping with free keys, which has no strict form.
    """
    strict = {keyword: value for keyword, value in schema.items() if keyword not in _NOT_STRICT}
    for keyword in strict.keys() & {"properties", "$defs"}:
        strict[keyword] = {name: _strict(part) for name, part in strict[keyword].items()}
    if "oneOf" in strict:
        strict["anyOf"] = strict.pop("oneOf")
    if "anyOf" in strict:
        strict["anyOf"] = [_strict(part) for part in strict["anyOf"]]
    if "items" in strict:
        strict["items"] = _strict(strict["items"])
    if strict.get("type") == "object":
        if isinstance(strict.get("additionalProperties"), dict):
            raise TypeError("a strict schema cannot hold a mapping with free keys; use a list of pairs")
        strict.setdefault("properties", {})
        strict |= {"required": list(strict["properties"]), "additionalProperties": False}
    if "$ref" in strict and len(strict) > 1:
        # a reference may have no neighbours, such as a field's description
        strict["anyOf"] = [{"$ref": strict.pop("$ref")}]
    return strict
