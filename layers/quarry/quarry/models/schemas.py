"""JSON schemas for models: only what they need to answer. Pydantic still checks what the schema leaves out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]

_UNSEEN = frozenset({"title", "default", "examples", "discriminator", "minLength", "pattern", "uniqueItems"})
"""Keywords that a model does not need, or that OpenAI refuses (`default is not permitted`)."""
_CHECKED = frozenset({"additionalProperties", "minimum", "maximum", "minItems", "maxItems", "maxLength"})
"""Keywords of a tool's arguments that are left out: validation reports violations."""
_NULL: Schema = {"type": "null"}
TEXT_CHARACTERS, LIST_ITEMS = 200, 12
"""The most of one text and of one list in a decision, where its type says nothing else: without bounds, a weak model fills the
first list until its time is up.
"""


@cache
def response_format(name: str, output_type: type[BaseModel], *, bounds_texts: bool = True) -> Schema:
    """The `response_format` of a request for an `output_type` under the schema name `name`. Lists are bounded, and texts where
    the server takes such schemas.
    """
    schema = _slim(_inlined(output_type.model_json_schema()), _strict if bounds_texts else _strict_lists)
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


@cache
def tool_parameters(arguments: type[BaseModel], unlisted: frozenset[str] = frozenset()) -> Schema:
    """The schema of a tool's arguments without those `unlisted`. Optional arguments do not also allow null, nor lists a single
    value. Recursive arguments are described once: inside, they are any object. `TOOL_DEFINITIONS` of the model replace the
    definitions of these names.
    """
    whole = arguments.model_json_schema()
    # definitions that the model gives of its own for tools
    whole.setdefault("$defs", {}).update(getattr(arguments, "TOOL_DEFINITIONS", {}))
    if (name := _name(whole.get("$ref"))) is not None:
        own = {"type": "object", "description": "Arguments like these"}
        definitions = {**whole["$defs"], name: own}
        whole = {**whole["$defs"][name], "$defs": definitions}
    whole["properties"] = {name: part for name, part in whole["properties"].items() if name not in unlisted}
    schema = _slim(_inlined(whole), _of_tool)
    return {keyword: value for keyword, value in schema.items() if keyword != "description"}


@cache
def tool_result(result: type[BaseModel]) -> Schema:
    """The schema of a tool's result: the fields that it always has."""
    whole = result.model_json_schema(mode="serialization")
    return {"type": "object", "required": whole.get("required", [])}


def _slim(schema: Schema, finish: Callable[[Schema], Schema]) -> Schema:
    """The schema without the keywords that a model does not need; `finish` gives each part its final form."""
    slim = {keyword: value for keyword, value in schema.items() if keyword not in _UNSEEN}
    if isinstance(slim.get("description"), str):
        slim["description"] = " ".join(slim["description"].split())
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
    """The schema with alternatives of plain types as a list of types, which is shorter."""
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
    if schema.get("type") == "array":
        schema.setdefault("maxItems", LIST_ITEMS)
    if schema.get("type") == "string" and not schema.keys() & {"enum", "const", "format"}:
        schema.setdefault("maxLength", TEXT_CHARACTERS)
    if "$ref" in schema and len(schema) > 1:
        # a reference may not stand next to other keywords, such as a description
        schema["anyOf"] = [{"$ref": schema.pop("$ref")}]
    return schema


def _strict_lists(schema: Schema) -> Schema:
    """As `_strict`, with texts of any length: OpenAI's models refuse a schema that bounds them."""
    return {keyword: value for keyword, value in _strict(schema).items() if keyword != "maxLength"}


def _of_tool(schema: Schema) -> Schema:
    """A part of a tool's arguments. Validation refuses unknown or out-of-range values, with a message for the model."""
    schema = {keyword: value for keyword, value in schema.items() if keyword not in _CHECKED}
    if "description" in schema and "description" in schema.get("items", {}):
        schema["items"] = {keyword: value for keyword, value in schema["items"].items() if keyword != "description"}
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
    """The schema with definitions that are used once moved to where they are used."""
    definitions = _reached(schema)
    uses = Counter(_references({**schema, "$defs": definitions}))

    def put_in(part: Any) -> Any:
        if isinstance(part, list):
            return [put_in(each) for each in part]
        if not isinstance(part, dict):
            return part
        name = _name(part.get("$ref"))
        if name is not None and uses[name] == 1:
            others = {keyword: value for keyword, value in part.items() if keyword != "$ref"}
            return put_in(definitions[name] | others)
        return {keyword: put_in(value) for keyword, value in part.items() if keyword != "$defs"}

    inlined: Schema = put_in(schema)
    kept = {name: put_in(part) for name, part in definitions.items() if uses[name] > 1}
    return inlined | ({"$defs": kept} if kept else {})


def _reached(schema: Schema) -> dict[str, Schema]:
    """The definitions that the schema refers to, also by others."""
    definitions, reached = schema.get("$defs", {}), dict[str, Schema]()
    waiting = [*_references({keyword: part for keyword, part in schema.items() if keyword != "$defs"})]
    while waiting:
        name = waiting.pop()
        if name not in reached and name in definitions:
            reached[name] = definitions[name]
            waiting += _references(definitions[name])
    return reached


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
