"""What goes over the wire about types of record, counts of records, and one whole record."""

from __future__ import annotations

import datetime
from operator import not_
from typing import Annotated, Any, Literal

from pydantic import (
    ConfigDict,
    Field,
    StringConstraints,
)

from quarry.platform.contract import AggregationGroup
from quarry.platform.lazy_model import LazyModel
from quarry.platform.text import QueryText, Storable
from quarry.query.contract import RelatedRows, SourceDescription, SourceField, SourceMeasure
from quarry.records.contract import Filtered, RecordType

MEASURES_MAX = 8


Period = Literal["day", "month", "year"]


class CountRequest(Filtered):
    """`GET /records/facets`: how many records there are, in all and by the values of `by`."""

    q: QueryText | None = Field(default=None, description="Only records that hold all of these words.")
    by: Annotated[str, StringConstraints(min_length=1, max_length=200), Storable] | None = Field(
        default=None,
        description="The facet, or `day`, `month` or `year`, by which they are grouped.",
        examples=["result"],
    )
    of: list[Annotated[str, StringConstraints(pattern=r"^(sum|avg|min|max):\S{1,48}$")]] = Field(
        default_factory=list,
        max_length=MEASURES_MAX,
        description="What is computed from a numeric facet, in all and by group: `sum:price`; or `avg`, `min`, `max`.",
        examples=[[]],
    )


class RecordCounts(LazyModel):
    """Exact numbers, counted over all records. `groups` are those with most records first, or the latest periods in the order
    of time, each by its first day; `truncated` says that there are more, and `other` how many records these hold. Groups add up:
    all `count` and `other` together are `total`, or more where groups are `overlapping`, since a record with several values
    counts in each. Values that differ only in case, accents and outer spaces are one group, and the group's value as a filter
    finds its records; an empty filter (`status=`) finds those of the null group. Periods without records are groups of 0, unless
    there are `gaps`: of more than 1,000 periods only those with records are given. What `of` asks for stands next to `total` and
    each `count`, by its name; null where no record has a value. `degraded` names, as
    `collection:NAME`, each collection that could not be read and is not counted.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float | None] = Field(init=False)

    total: int
    exact: Literal[True] = True
    groups: list[AggregationGroup]
    truncated: bool
    other: int = 0
    overlapping: bool = False
    gaps: bool = False
    degraded: list[str] = Field(default=[], exclude_if=not_)


class CollectionFacet(LazyModel):
    """What records can be filtered and counted by; `currency` is that of money, its ISO 4217 code."""

    name: str
    kind: str
    label: str
    currency: str | None = None


class Collection(LazyModel):
    """A type of record. `date` names the facet that dates it. `language` is the code (ISO 639-1) of the one that its records are
    in, by which numbers and dates are written; absent where they differ, or are in none that is known. `fields` and `related` are
    what a Query (`POST /query`) can name of it, its facets among them; `left_out` says which rows of its table it does not have.
    """

    name: RecordType
    label: str
    description: str
    facets: list[CollectionFacet]
    date: str | None = None
    language: str | None = None
    left_out: str | None = None
    fields: list[SourceField] = []
    related: list[RelatedRows] = []
    measures: list[SourceMeasure] | None = None


class Collections(LazyModel):
    """`GET /collections`: the types of record that are declared, and as `sources` what else a Query can ask of. `degraded` names,
    as `collection:NAME`, those that cannot be read at the moment: they are left out.
    """

    collections: list[Collection]
    sources: list[SourceDescription] = []
    degraded: list[str] = Field(default=[], exclude_if=not_)


class WholeRecord(LazyModel):
    """One record, whole: its title, its own fields by their names in the data (`texts` are those that are read as such), and as
    `meeting` what it is part of; whole numbers beyond 2^53 as text. `text` is what answers quote: `start` and `end` of a citation
    count its characters.
    """

    type: RecordType
    id: str
    title: str
    date: datetime.date | None = None
    url: str | None = None
    fields: dict[str, Any]
    texts: list[str] = []
    text: str | None = None
    meeting: dict[str, Any] | None = None
