"""What remote chat models share: reading and checking their answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache
from typing import Annotated, Any, Generic, Literal, NamedTuple, Protocol, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json, to_json

from quarry.models.interface import Output
from quarry.platform.contract import LazyModel
from quarry.platform.errors import ModelOutputInvalid, ModelRefused, ModelUnavailable
from quarry.platform.text import shorten, visible

MAX_PROBLEMS = 8
PROBLEM_CHARACTERS = 200
TOKEN_CHARACTERS_MAX = 40
"""Ten times the length of a token in English: a server that sends more per allowed token ignores the limit."""

CUT_OFF = "The model's answer was cut off at its length limit."
DECLINED = "The model declined to answer."
TOOK_TOO_LONG = "The model took too long to answer."

TokensField = Literal["max_completion_tokens", "max_tokens"]
"""A server's name for the limit of an answer: OpenAI's reasoning models refuse the older one; many servers know no other."""

StorableText = Annotated[str, AfterValidator(lambda text: storable(text))]


class OutputLimits(NamedTuple):
    """The most tokens that a model may write, including reasoning, by kind of call. `tokens_field` None depends on the server."""

    decision_tokens: int = 6_000
    reasoning_tokens: int = 4_000
    answer_tokens: int = 3_000
    tokens_field: TokensField | None = None

    def of_decision(self, output_type: type[BaseModel]) -> int:
        """The most tokens of a decision: what its type says it needs as `TOKENS_MAX`, and reasoning."""
        needed: int = getattr(output_type, "TOKENS_MAX", self.decision_tokens)
        return min(self.decision_tokens, needed + self.reasoning_tokens)


USUAL_LIMITS = OutputLimits()


class Wire(LazyModel):
    """A part of an answer, read from JSON or from an SDK's unvalidated objects. Fields that servers omit are optional."""

    model_config = ConfigDict(from_attributes=True)


class Connected(Protocol):
    """A connection to a model's server, which opens on first use. No call exceeds `timeout_seconds`."""

    timeout_seconds: float

    async def close(self) -> None: ...


C = TypeVar("C", bound=Connected)


class ServedChat(Generic[C]):
    """Base of remote chat models. No call, and no wait for a piece of a stream, exceeds the time limit of the `connection`, which
    closes with the model. Answers beyond `limits` are cut off.
    """

    def __init__(self, connection: C, model: str, limits: OutputLimits = USUAL_LIMITS) -> None:
        self.name = model
        self._connection = connection
        self._timeout_seconds = connection.timeout_seconds
        self._limits = limits

    async def close(self) -> None:
        await self._connection.close()


_CUT_OFF_REASONS = frozenset({"length", "max_tokens", "model_context_window_exceeded"})
_DECLINED_REASONS = frozenset({"content_filter", "content_filtered", "guardrail_intervened"})
_MALFORMED_REASONS = frozenset({"malformed_model_output", "malformed_tool_use"})


def check_ending(reason: str | None) -> None:
    """Raise if the model did not complete its answer, by the reasons of any provider."""
    if reason in _CUT_OFF_REASONS:
        raise ModelOutputInvalid(CUT_OFF)
    if reason in _DECLINED_REASONS:
        raise ModelRefused(DECLINED)
    if reason in _MALFORMED_REASONS:
        raise ModelOutputInvalid("The model's answer is malformed.")


def check_stream(reason: str | None, characters: int) -> None:
    """As `check_ending`, for a stream that has ended after this number of characters."""
    if reason is None:
        raise ModelUnavailable("The model's answer broke off.")
    check_ending(reason)
    check_has_text(bool(characters))


def check_has_text(has_text: bool) -> None:
    if not has_text:
        raise ModelOutputInvalid("The model's answer is empty.")


def storable(text: str) -> str:
    """`text` without what Postgres, where answers are kept, and UTF-8 cannot hold, and what readers cannot see."""
    valid = text.replace("\0", "").encode(errors="ignore").decode()
    # structured outputs and arguments are JSON, whose strings contain no raw line breaks
    return visible(valid.replace("\u2028", " ").replace("\u2029", " "))


def check_length(characters: int, max_tokens: int) -> None:
    """Raise if a server ignores the token limit."""
    if characters > max_tokens * TOKEN_CHARACTERS_MAX:
        raise ModelOutputInvalid(CUT_OFF)


def read_output(text: str, name: str, output_type: type[Output]) -> Output:
    """The structured output in a model's text. ModelOutputInvalid lists the problems, without the model's values."""
    try:
        return output_type.model_validate_json(without_fence(text))
    except ValidationError as error:
        raise ModelOutputInvalid(f"The model's answer is not a valid {name}: {_problems(error)}") from error


def _problems(error: ValidationError) -> str:
    """The first problems on one line, such as `variants.0.text: Field required`."""
    problems = error.errors(include_url=False, include_input=False, include_context=False)[:MAX_PROBLEMS]
    places = [".".join(str(part) for part in problem["loc"]) for problem in problems]
    texts = [f"{place}: {each['msg']}" if place else each["msg"] for place, each in zip(places, problems, strict=True)]
    return "; ".join(shorten(text, PROBLEM_CHARACTERS) for text in texts)


def without_fence(text: str) -> str:
    """The JSON in `text`: servers that know no schemas let the model wrap it in a Markdown code fence."""
    if text.lstrip().startswith("{"):
        return text
    _, _, fenced = text.partition("```")
    _, _, inside = fenced.partition("\n")
    inside, closing, _ = inside.partition("```")
    return inside if closing else text


Arguments = TypeVar("Arguments", bound=BaseModel)

_Place = tuple[int | str, ...]


def read_arguments(model: type[Arguments], value: Mapping[str, Any] | str) -> Arguments:
    """Validate arguments, which are an object or its JSON; a single value is taken where a list is expected.

    Raises ValidationError.
    """
    validate: Callable[[Any], Arguments] = model.model_validate_json if isinstance(value, str) else model.model_validate
    try:
        return validate(value)
    except ValidationError as error:
        if not (places := _expected_lists(error)):
            raise
    if isinstance(value, str):
        return model.model_validate_json(to_json(_with_lists(from_json(value), places)))
    return model.model_validate(_with_lists(value, places))


def _expected_lists(error: ValidationError) -> list[_Place]:
    """The places that have a single value instead of a list."""
    problems = error.errors(include_url=False, include_context=False)
    return [
        each["loc"] for each in problems if each["type"] == "list_type" and not isinstance(each["input"], dict | None)
    ]


def _with_lists(value: Any, places: Sequence[_Place]) -> Any:
    """`value` with the value at each of `places` as a list of one."""
    changed = deepcopy(value)
    for *parents, last in places:
        try:
            holder = changed
            for part in parents:
                holder = holder[part]
            holder[last] = [holder[last]]
        except (LookupError, TypeError):
            # a step that only the model has, such as the branch of a union
            continue
    return changed


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

    def inline(part: Any) -> Any:
        if isinstance(part, list):
            return [inline(each) for each in part]
        if not isinstance(part, dict):
            return part
        name = _name(part.get("$ref"))
        if name is not None and uses[name] == 1:
            others = {keyword: value for keyword, value in part.items() if keyword != "$ref"}
            return inline(definitions[name] | others)
        return {keyword: inline(value) for keyword, value in part.items() if keyword != "$defs"}

    inlined: Schema = inline(schema)
    shared = {name: inline(part) for name, part in definitions.items() if uses[name] > 1}
    return inlined | ({"$defs": shared} if shared else {})


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
