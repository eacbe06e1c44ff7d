"""JSON schemas as a model is shown them: only what it needs to answer. Pydantic still checks what the schema leaves out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]

_UNSEEN = frozenset(
    {"title", "default", "examples", "discriminator", "minLength", "maxLength", "pattern", "uniqueItems"}
)
"""Keywords that a model does not need, or that OpenAI refuses (`default is not permitted`)."""
_NULL: Schema = {"type": "null"}


@cache
def response_format(name: str, output_type: type[BaseModel]) -> Schema:
    """The `response_format` of a request for an `output_type` under the schema name `name`."""
    schema = _slim(_inlined(output_type.model_json_schema()), _strict)
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


@cache
def tool_parameters(arguments: type[BaseModel]) -> Schema:
    """The schema of a tool's arguments. What may be left out is not offered as null as well, nor a list as a single value."""
    schema = _slim(_inlined(arguments.model_json_schema()), _of_tool)
    return {keyword: value for keyword, value in schema.items() if keyword != "description"}


def _slim(schema: Schema, finish: Callable[[Schema], Schema]) -> Schema:
    """The schema without the keywords that a model does not need; `finish` gives each part its final form."""
    slim = {keyword: value for keyword, value in schema.items() if keyword not in _UNSEEN}
    for keyword in slim.keys() & {"properties", "$defs"}:
        slim[keyword] = {name: _slim(part, finish) for name, part in slim[keyword].items()}
    if "oneOf" in slim:
        slim["anyOf"] = slim.pop("oneOf")
    if "anyOf" in slim:
        slim["anyOf"] = [_slim(part, finish) for part in slim["anyOf"]]
    if "items" in slim:
        slim["items"] = _slim(slim["items"], finish)
    return _with_type_list(finish(slim))


def _with_type_list(schema: Schema) -> Schema:
    """Alternatives that are plain types as a list of types, which is shorter."""
    options = schema.get("anyOf", ())
    if not options or any(each.keys() != {"type"} for each in options):
        return schema
    return {"type": [each["type"] for each in options]} | {
        keyword: value for keyword, value in schema.items() if keyword != "anyOf"
    }


def _strict(schema: Schema) -> Schema:
    """A part in the form of strict structured outputs.

    The rules: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas. Raises TypeError for a
    mapping with free keys, which has no strict form.
    """
    if schema.get("type") == "object":
        if isinstance(schema.get("additionalProperties"), dict):
            raise TypeError("a strict schema cannot hold a mapping with free keys; use a list of pairs")
        schema.setdefault("properties", {})
        schema |= {"required": list(schema["properties"]), "additionalProperties": False}
    if "$ref" in schema and len(schema) > 1:
        # a reference may have no neighbours, such as a field's description
        schema["anyOf"] = [{"$ref": schema.pop("$ref")}]
    return schema


def _of_tool(schema: Schema) -> Schema:
    """A part of a tool's arguments: what is unknown is refused when they are validated, with a message that the model reads."""
    if schema.get("additionalProperties") is False:
        del schema["additionalProperties"]
    required = schema.get("required", ())
    for name, part in schema.get("properties", {}).items():
        schema["properties"][name] = part if name in required else _without_null(part)
    options = schema.get("anyOf", [])
    lists = [each for each in options if each.get("type") == "array" and each.get("items") in options]
    return _unwrapped(schema, lists) if len(options) == 2 and lists else schema


def _without_null(schema: Schema) -> Schema:
    if _NULL in schema.get("anyOf", ()):
        return _with_type_list(_unwrapped(schema, [each for each in schema["anyOf"] if each != _NULL]))
    if isinstance(schema.get("type"), list):
        types = [each for each in schema["type"] if each != "null"]
        return schema | {"type": types[0] if len(types) == 1 else types}
    return schema


def _unwrapped(schema: Schema, options: list[Schema]) -> Schema:
    """The schema with these alternatives; a single one needs no `anyOf`."""
    rest = {keyword: value for keyword, value in schema.items() if keyword != "anyOf"}
    return {**options[0], **rest} if len(options) == 1 else {**rest, "anyOf": options}


def _inlined(schema: Schema) -> Schema:
    """The schema with each definition that is used once put where it is used."""
    definitions = schema.get("$defs", {})
    uses = Counter(_references(schema))

    def put_in(part: Any) -> Any:
        if isinstance(part, list):
            return [put_in(each) for each in part]
        if not isinstance(part, dict):
            return part
        name = _name(part.get("$ref"))
        if name is not None and uses[name] == 1:
            beside = {keyword: value for keyword, value in part.items() if keyword != "$ref"}
            return put_in(definitions[name] | beside)
        return {keyword: put_in(value) for keyword, value in part.items() if keyword != "$defs"}

    inlined: Schema = put_in(schema)
    kept = {name: put_in(part) for name, part in definitions.items() if uses[name] > 1}
    return inlined | ({"$defs": kept} if kept else {})


def _references(part: Any) -> Iterator[str]:
    """The names of the definitions that a schema refers to, once for each use."""
    if isinstance(part, dict):
        if (name := _name(part.get("$ref"))) is not None:
            yield name
        for value in part.values():
            yield from _references(value)
    elif isinstance(part, list):
        for each in part:
            yield from _references(each)


def _name(reference: Any) -> str | None:
    """The name of a definition of this schema."""
    return reference.removeprefix("#/$defs/") if isinstance(reference, str) else None
