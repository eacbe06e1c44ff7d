"""Types that the contracts of all domains share."""

from __future__ import annotations

import datetime
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    SerializerFunctionWrapHandler,
    StrictInt,
    model_serializer,
)
from pydantic_core import CoreSchema

from quarry.platform.text import Storable

# reentrant: building one may build others
_building = threading.RLock()


class _Thread(threading.local):
    builds = False
    """Whether it is building a model, with those that it is made of."""


_thread = _Thread()


class LazyModel(BaseModel):
    """A model whose validators are built on first use: a process uses few of the models it imports, and building all of them
    takes longer than importing them.
    """

    model_config = ConfigDict(defer_build=True)

    @classmethod
    def model_rebuild(
        cls,
        *,
        force: bool = False,
        raise_errors: bool = True,
        _parent_namespace_depth: int = 2,
        _types_namespace: Mapping[str, Any] | None = None,
    ) -> bool | None:
        """As pydantic's, which must not run in two threads at once. Names are resolved in the model's module."""
        with _building:
            builds, _thread.builds = _thread.builds, True
            try:
                return super().model_rebuild(
                    force=force, raise_errors=raise_errors, _parent_namespace_depth=0, _types_namespace=_types_namespace
                )
            finally:
                _thread.builds = builds

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The model's own schema for a type that contains it. A `TypeAdapter` would else make another: a request would be built
        once to be read, and again to be written.
        """
        if not _thread.builds:
            cls.model_rebuild()
        return handler(source)


DOMAINS = ("companies", "people", "records", "ontology", "campaigns")
"""The one list of domains, by the names of their folders."""

if TYPE_CHECKING:
    Domain = str
else:
    Domain = Literal[DOMAINS]

NAME_PATTERN = r"^(?:[a-z]|[^\W\d_\x00-\x7f])(?:[a-z0-9_]|[^\W\x00-\x7f]){0,47}$"
"""Valid names of collections and facets: letters of any script, digits and _, without Latin capitals."""

Assertion = Literal["affirmed", "required", "preferred", "negated", "doubtful"]
"""How a mention is meant, in the terms of NegEx and ConText. `doubtful`: its clause has a negative word, so that the mention is
neither required nor ruled out.
"""

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def _check_day_format(value: Any) -> Any:
    """Refuse other forms: pydantic would read a number as seconds since 1970."""
    if isinstance(value, datetime.date) or (isinstance(value, str) and _DAY.fullmatch(value)):
        return value
    raise ValueError("write the day as YYYY-MM-DD")


Day = Annotated[datetime.date, BeforeValidator(_check_day_format)]
"""A day from a client: YYYY-MM-DD."""


class Request(LazyModel):
    """Base of requests: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")

    def as_asked(self) -> dict[str, Any]:
        """The request as JSON, to repeat it. Subclasses leave out earlier answers, which quote the data."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


DEPRECATED: dict[str, Any] = {"deprecated": True}
"""The schema of a field that goes with the next release but one. Pydantic's own mark warns whenever such a field is read."""

EVIDENCE_MAX = 240
"""The most pieces of evidence for one question."""


class Evidence(Request):
    """The characters of a question, from `start` to before `end`, that say `value` of a field, and how it is meant."""

    field: Annotated[str, Storable]
    value: Annotated[str, Storable]
    start: Annotated[StrictInt, Field(ge=0)]
    end: Annotated[StrictInt, Field(ge=0)]
    assertion: Assertion


class AggregationGroup(LazyModel):
    """A value, or the first day of a period; null stands for none or a blank one. `label` says it in words. `count` is how many
    rows have it, null where the query does not count; what was calculated from these rows has its own name (`sum(price)`).
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float | str | None] = Field(init=False)

    value: str | int | float | bool | datetime.date | None
    label: str | None = None
    count: int | None = None

    @model_serializer(mode="wrap")
    def _with_null(self, serialise: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def]
        """Keep null even if empty fields are left out: here it is a value."""
        fields = {"value": None} | serialise(self)
        return {name: each for name, each in fields.items() if name != "label" or each is not None}


_WORDS = {"missing": "is missing", "extra_forbidden": "is not a known field", "string_unicode": "is not valid Unicode"}
_SUBJECT = re.compile(r"^\w+ should")
_ABOUT_PARSING = (", unable to ", ", input ", ", got ")


def plain_words(detail: Mapping[str, Any]) -> str:
    """The message for one of a ValidationError's `errors()`, to follow the name of the field."""
    message = str(detail["msg"])
    if words := _WORDS.get(str(detail["type"])):
        return words
    if detail["type"] == "value_error":
        return message.removeprefix("Value error, ")
    for mark in _ABOUT_PARSING:
        message = message.partition(mark)[0]
    return _SUBJECT.sub("should", message).replace("a valid dictionary", "an object")


def pointer_to(parts: Iterable[str | int]) -> str:
    """The JSON pointer (RFC 6901) with these parts."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def place_in(value: Any, detail: Mapping[str, Any]) -> list[str | int]:
    """Where one of a ValidationError's `errors()` is in what was given. The error's own location also names branches of unions
    and fields that validators added, which the input does not have.
    """
    place: list[str | int] = []
    location: Sequence[str | int] = detail["loc"]
    for number, part in enumerate(location, 1):
        is_there = (isinstance(value, Mapping) and part in value) or (
            isinstance(value, Sequence) and not isinstance(value, str) and isinstance(part, int) and part < len(value)
        )
        if is_there:
            place.append(part)
            value = value[part]
        elif detail["type"] == "missing" and number == len(location) and isinstance(value, Mapping):
            place.append(part)
    return place
