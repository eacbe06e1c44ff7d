"""Types that the contracts of all domains share."""

from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, SerializerFunctionWrapHandler, StrictInt, model_serializer

from quarry.platform.lazy_model import LazyModel
from quarry.platform.text import Storable

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


def _written_as_a_day(value: Any) -> Any:
    """Refuse other forms: pydantic would read a number as seconds since 1970."""
    if isinstance(value, datetime.date) or (isinstance(value, str) and _DAY.fullmatch(value)):
        return value
    raise ValueError("write the day as YYYY-MM-DD")


Day = Annotated[datetime.date, BeforeValidator(_written_as_a_day)]
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
        written = {"value": None} | serialise(self)
        return {name: each for name, each in written.items() if name != "label" or each is not None}
