"""The result of a query on the wire; and how a question was understood, in one form for every domain: a Query's conditions, each
with a label, a pointer and what characters of the question say it. An answer has it, and a request may send it back, edited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, GetCoreSchemaHandler, StringConstraints
from pydantic_core import CoreSchema, core_schema

from quarry.platform.contract import EVIDENCE_MAX, LazyModel, Request
from quarry.platform.text import QUERY_MAX_CHARACTERS, QueryText, Storable
from quarry.schema.algebra import Cell, Condition, OneOrMany, Query, Span
from quarry.streaming.events import Event


def _short(part: BaseModel) -> dict[str, Any]:
    return part.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def _all_short(conditions: Sequence[Condition]) -> list[dict[str, Any]]:
    return [*map(_short, conditions)]


@dataclass(frozen=True)
class _Shortened:
    """Writes a query, or conditions, by `short`. Pydantic's own serializer would change the schema that all fields of queries
    share, and so what they write, by the order in which models are first used.
    """

    short: Callable[[Any], Any]
    schema: Callable[[], CoreSchema]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        serialization = core_schema.plain_serializer_function_ser_schema(self.short, return_schema=self.schema())
        return core_schema.no_info_after_validator_function(
            lambda value: value, handler(source), serialization=serialization
        )


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


Meaning = Literal["required", "assumed", "preferred", "excluded"]
"""How a condition is meant. required: none is shown that does not meet it; assumed: so as long as some meet it; preferred: it
only speaks for a row; excluded: it must not hold."""
CHANGEABLE: tuple[Meaning, ...] = ("required", "preferred", "excluded")
DECIDING: tuple[Meaning, ...] = ("required", "excluded")
"""How a condition may be meant where none is preferred: a Query prefers nothing."""
OWN = "/understood"
"""Where a request holds it."""
LABEL_MAX = 400

_About = Annotated[str, StringConstraints(strip_whitespace=True, max_length=QUERY_MAX_CHARACTERS), Storable]


class ConditionChip(FilterChip):
    """A condition in words, with its pointer: `/where/0` into the query, `/assumed/0`, `/preferred/0`, `/about` or `/like` beside
    it. It may be meant in any of `choices` instead: to change it, move the condition, and put one that is excluded in a `not`.
    """

    choices: list[Meaning] = []


class Understood(Request):
    """How a question was understood. All of the query's `where` must hold. `assumed` conditions hold as long as some rows meet
    them, and `preferred` ones only raise the rank. `about` is what is searched for by
    words and meaning, `like` the name of what others should resemble. `chips` say the conditions in words, `spans` which
    characters of the question say which part, and `unread` the words that no part says; `sentence` is the query in words.

    A request that carries it is answered by it instead of the reading. What only explains is ignored there.
    """

    sentence: Annotated[str, Storable] = ""
    query: ShortQuery
    assumed: ShortConditions = ()
    preferred: ShortConditions = ()
    about: _About = ""
    like: _About = ""
    chips: list[ConditionChip] = []
    unread: list[Annotated[str, Storable]] = []
    spans: Annotated[list[Span], Field(max_length=EVIDENCE_MAX)] = []

    @property
    def parts(self) -> dict[str, tuple[Condition, ...]]:
        """The conditions by the pointer of their list."""
        return {"/where": self.query.where, "/assumed": self.assumed, "/preferred": self.preferred}

    @property
    def conditions(self) -> Iterator[tuple[str, Condition]]:
        """Each condition with its pointer."""
        for part, conditions in self.parts.items():
            yield from ((f"{part}/{place}", each) for place, each in enumerate(conditions))

    def mapped(self, change: Callable[[Condition, str], Condition | None]) -> Understood:
        """The same with each condition changed, by itself and its pointer from the whole; without those that become None."""
        where = self._changed("/query/where", self.query.where, change)
        return self.model_copy(
            update={
                "query": self.query.model_copy(update={"where": where}),
                "assumed": self._changed("/assumed", self.assumed, change),
                "preferred": self._changed("/preferred", self.preferred, change),
            }
        )

    @staticmethod
    def _changed(
        pointer: str, conditions: Sequence[Condition], change: Callable[[Condition, str], Condition | None]
    ) -> tuple[Condition, ...]:
        changed = (change(each, f"{pointer}/{place}") for place, each in enumerate(conditions))
        return tuple(each for each in changed if each is not None)


class UnderstoodEvent(Event):
    """How the question was understood, before the whole answer."""

    type: Literal["understood"] = "understood"
    data: Understood
