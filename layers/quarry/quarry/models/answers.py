"""What remote chat models share: reading and checking their answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Annotated, Any, Generic, Literal, NamedTuple, Protocol, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json, to_json

from quarry.models.interface import Output
from quarry.platform.errors import ModelOutputInvalid, ModelRefused, ModelUnavailable
from quarry.platform.lazy_model import LazyModel
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
    check_written(bool(characters))


def check_written(is_written: bool) -> None:
    if not is_written:
        raise ModelOutputInvalid("The model's answer is empty.")


def storable(text: str) -> str:
    """`text` without what Postgres, where answers are kept, and UTF-8 cannot hold, and what readers cannot see."""
    kept = text.replace("\0", "").encode(errors="ignore").decode()
    # structured outputs and arguments are JSON, whose strings contain no raw line breaks
    return visible(kept.replace("\u2028", " ").replace("\u2029", " "))


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
    found = error.errors(include_url=False, include_input=False, include_context=False)[:MAX_PROBLEMS]
    places = [".".join(str(part) for part in problem["loc"]) for problem in found]
    texts = [f"{place}: {each['msg']}" if place else each["msg"] for place, each in zip(places, found, strict=True)]
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
