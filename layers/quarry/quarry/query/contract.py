"""The result of a query on the wire."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, GetCoreSchemaHandler, StringConstraints
from pydantic_core import CoreSchema, core_schema

from quarry.platform.contract import Request
from quarry.platform.lazy_model import LazyModel
from quarry.platform.text import QueryText, Storable
from quarry.query.algebra import Cell, Condition, OneOrMany, Query, Span


def _short(query: Query) -> dict[str, Any]:
    return query.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def _all_short(conditions: Sequence[Condition]) -> list[dict[str, Any]]:
    return [each.model_dump(mode="json", by_alias=True, exclude_defaults=True) for each in conditions]


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class _Shortened:
    """Writes a query, or conditions, by `short`. Pydantic's own serializer would change the schema that all fields of queries
    share, and so what they write, by the order in which models are first used.
    """

    short: Callable[[Any], Any]
    schema: Callable[[], CoreSchema]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(self.short, return_schema=self.schema())
        return core_schema.no_info_after_validator_function(_same, handler(source), serialization=written)


ShortQuery = Annotated[Query, _Shortened(_short, core_schema.dict_schema)]
"""A query that says nothing of the parts which it leaves out."""
CONDITIONS_MAX = 60
ShortConditions = Annotated[
    tuple[Condition, ...], OneOrMany, Field(max_length=CONDITIONS_MAX), _Shortened(_all_short, core_schema.list_schema)
]
"""Conditions that say nothing of the parts which they leave out."""


class ResultColumn(LazyModel):
    """A column of the rows: `name` is the field or the aggregate as the query names it, `label` what people call it. `unit` is
    what its numbers are measured in or, of money, the currency. The numbers of a `share` are parts of 1.
    """

    name: str
    label: str
    kind: str
    unit: str | None = None
    share: bool = False


class FilterChip(LazyModel):
    """A condition in words, and a pointer (RFC 6901) to the part of the query that says it."""

    label: str
    pointer: str


class QueryResult(LazyModel):
    """`POST /query`: the query, with values as the data spells them, and its exact result. `sentence` says both in words.
    `total` is how many rows of the source the query is about. `truncated`: there are rows, or groups, behind the last one here;
    `tied`: the next of them ties with it by the query's order.
    """

    query: Query
    sentence: str
    columns: list[ResultColumn]
    rows: list[list[Cell]]
    total: int
    truncated: bool
    tied: bool = False
    filters: list[FilterChip]
    spans: tuple[Span, ...] | None = None
    groups: Annotated[list[str], Field(exclude=True)] = []
    """What each group is called."""


class SourceField(LazyModel):
    """A field of a source. Money has a `currency` or, in `currency_of`, the field that names each row's: sums are given by it.
    A number may have a `unit`. `references` is the source whose row a field leads
    to: a path goes on there (`agent.email`). `many`: a row has several values. `values` are some that rows have.
    """

    name: str
    kind: str
    label: str
    unit: str | None = None
    currency: str | None = None
    currency_of: str | None = None
    references: str | None = None
    many: bool = False
    values: list[str] | None = None
    description: str | None = None
    through: Annotated[str | None, Field(exclude=True)] = None
    """The reference through which a row has the value."""


class SourceMeasure(LazyModel):
    """A number that a source declares by name: `aggregate` takes the name. `definition` says in words what it is."""

    name: str
    label: str
    definition: str
    unit: str | None = None
    synonyms: list[str] = []


class RelatedRows(LazyModel):
    """Rows of another source that belong to a row: `count(NAME)`, `{"exists": NAME}`; `many` is false where it is one row. Rows
    of no source have only the `fields` named.
    """

    name: str
    label: str
    references: str | None = None
    many: bool
    fields: list[str] = []


class SourceDescription(LazyModel):
    """What a Query can ask of a source. `date` is the field that dates its rows; `left_out` says which rows of its table it does
    not have; `texts` are long texts to select.
    """

    name: str
    label: str
    description: str
    date: str | None = None
    left_out: str | None = None
    fields: list[SourceField]
    related: list[RelatedRows]
    texts: list[str] = []
    measures: list[SourceMeasure] | None = None


SOURCES_MAX = 100
"""The sources that one explanation may name."""
_Name = Annotated[str, StringConstraints(min_length=1, max_length=200), Storable]


class ExplanationRequest(Request):
    """`POST /query/explain`: with a `query`, the statement of that is shown instead. Without `sources` the question is read over
    all sources, or over those of one `domain`. `after` is the question that it follows.
    """

    question: QueryText = Field(examples=["How many motions were carried in 2024?"])
    query: dict[str, Any] | None = None
    sources: list[_Name] = Field(default_factory=list, max_length=SOURCES_MAX)
    domain: _Name | None = Field(default=None, examples=["records"])
    after: QueryText | None = None


class ExplainedWords(LazyModel):
    """Words of the question, and what they may mean: a source, a field, values of fields, a number, days."""

    text: str
    means: str


class ExplainedQuery(LazyModel):
    """A query that the question may ask for: in words, as a Query, and with its `probability` among all. `score` is that of the
    linear stage, `pair_score` that of the language model, where one is loaded.
    """

    text: str
    query: dict[str, Any]
    score: float
    pair_score: float | None = None
    probability: float


Verdict = Literal["confident", "doubted", "refused"]


class ExplainedStatement(LazyModel):
    """The statement that a query runs, with a place `%(p0)s` for each of its `parameters`."""

    sql: str
    parameters: dict[str, Any]


class Explanation(LazyModel):
    """How a question is read without a chat model. `chance` is how likely the first query is right, and `verdict` what follows of
    it; `unread` are the words that no part of the query says. `statement` is that of a `query` that was given.
    """

    verdict: Verdict
    chance: float
    unread: list[str]
    words: list[ExplainedWords]
    queries: list[ExplainedQuery]
    statement: ExplainedStatement | None = None
