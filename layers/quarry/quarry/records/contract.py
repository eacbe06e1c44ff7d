"""What goes over the wire for records and collections."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from operator import not_
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from quarry.platform.contract import AggregationGroup, Day, LazyModel, Request
from quarry.platform.text import Identifier, QueryText, Storable
from quarry.query.contract import (
    RelatedRows,
    ResultColumn,
    ShortQuery,
    SourceDescription,
    SourceField,
    SourceMeasure,
    Understood,
)
from quarry.schema.algebra import Cell
from quarry.streaming.events import AFTER_SEQ, PLACE_PATTERN, Event
from quarry.verification.wire import CheckedStatement

RecordType = str
"""The name of a type of record."""
RecordKey = tuple[RecordType, str]
"""The type and id of a record."""

Intent = Literal["keyword", "question"]
ConfidenceLevel = Literal["high", "medium", "low"]

LIMIT_MAX, OFFSET_MAX = 100, 400
FACET_VALUES_MAX = 20
HISTORY_TURNS = 5
HISTORY_CHARACTERS_MAX = 20_000


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


_FacetValue = Annotated[str, StringConstraints(strip_whitespace=True, max_length=1000), Storable]
FacetValues = Annotated[list[_FacetValue], Field(min_length=1, max_length=FACET_VALUES_MAX), BeforeValidator(_listed)]
"""The values that a request names of one facet; an empty one stands for records without any."""


TYPES_MAX = 12
TypeName = Identifier
"""The name of a type of record, as `GET /collections` has it; who writes "Motions" is told what there is."""


class _Dated(Request):
    """A request for records of some days; `from` and `to` are inclusive."""

    from_date: Day | None = Field(default=None, alias="from")
    to_date: Day | None = Field(default=None, alias="to")

    @field_validator("to_date")
    @classmethod
    def _not_before_from(cls, to_date: datetime.date | None, info: ValidationInfo) -> datetime.date | None:
        from_date = info.data.get("from_date")
        if from_date and to_date and from_date > to_date:
            raise ValueError("must not be earlier than `from`")
        return to_date


class Filtered(_Dated):
    """A request for some of the records. `type` may be repeated. What no field is called is a facet that it filters by."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, FacetValues] = Field(init=False)

    type: list[TypeName] = Field(default_factory=list, max_length=TYPES_MAX)

    @property
    def facets(self) -> Mapping[str, Sequence[str]]:
        """The values of each facet, by its name; with a dash before it, those that are left out."""
        return self.__pydantic_extra__


class SearchRequest(Filtered):
    """`GET /records/search`."""

    q: QueryText = Field(examples=["bridge weight limit"])
    limit: int = Field(default=20, ge=1, le=LIMIT_MAX)
    offset: int = Field(default=0, ge=0, le=OFFSET_MAX)
    must: bool = Field(default=False, description="Phrases in quotes must hold; else what holds them comes first.")
    ranking: Literal["scores", "seed"] = Field(
        default="scores",
        description="How words and meaning are fused: by their scores; `seed`: by their ranks (k = 50).",
    )


SUGGESTIONS_MAX = 20


class SuggestRequest(Filtered):
    """`GET /records/suggest`."""

    q: QueryText = Field(examples=["lantern str"])
    limit: int = Field(default=8, ge=1, le=SUGGESTIONS_MAX)


class Suggestion(LazyModel):
    """A record whose title holds what was typed."""

    type: RecordType
    id: str
    title: str
    date: datetime.date | None = None
    url: str | None = None


class Suggestions(LazyModel):
    """Titles for what was typed so far, each once: first those that `GET /records/search` lists, in its order, then others."""

    query: str
    suggestions: list[Suggestion]
    degraded: list[str] = []


class Matched(LazyModel):
    """The record's rank by its words and by its meaning, over all types; 1 is best. A half that did not find it is absent."""

    text_rank: int | None = None
    semantic_rank: int | None = None


class SameRecord(LazyModel):
    """A found record that says nearly what another says."""

    type: RecordType
    id: str
    title: str
    date: datetime.date | None = None


class Result(LazyModel):
    """One found record. `snippet` is HTML-escaped but for the `<mark>` around the matched words. `also` names the others that
    were found and say nearly the same, best first: they have no place of their own in the list.
    """

    type: RecordType
    id: str
    title: str
    snippet: str
    score: float
    date: datetime.date | None = None
    meeting_id: str | None = None
    url: str | None = None
    matched: Matched
    also: list[SameRecord] = []


class SearchResponse(LazyModel):
    """One list over all types, best first. `counts` holds how many were found of each type: all that hold a word of it, and
    of others those nearest in meaning. They are exact up to 10,000; of a phrase that must, or must not, be held, while at most
    so many hold its words. `more` says that of some types, which `capped` then names, there may be more than were counted.
    `degraded` names steps that did less than was asked for, and as `collection:NAME` each collection that could not be read.
    """

    query: str
    intent: Intent
    results: list[Result]
    counts: dict[RecordType, int]
    more: bool
    capped: list[RecordType] | None = None
    degraded: list[str]


class AskFilters(_Dated):
    """Which records an answer is made from: of some days, and with values of facets (with a dash before its name: without)."""

    facets: dict[str, FacetValues] = Field(default_factory=dict, examples=[{"status": ["open"]}])


class PriorTurn(Request):
    """A question that was asked before in this conversation, and its answer. `types` and `filters` are those that the answer was
    made from, as its `done` told them (`applied`): a follow-up without any of its own keeps those of the last turn.
    """

    question: Annotated[str, StringConstraints(max_length=2000), Storable]
    answer: Annotated[str, StringConstraints(max_length=HISTORY_CHARACTERS_MAX), Storable]
    types: list[TypeName] = Field(default_factory=list, max_length=TYPES_MAX)
    filters: AskFilters = AskFilters()


_TURNS = TypeAdapter(list[PriorTurn], config=ConfigDict(defer_build=True))

_FRESH = "Answer again, even if a stored answer to the same question is still valid."


class AskRequest(Request):
    """`POST /records/ask`. Only the last five turns of `history` are used."""

    question: QueryText = Field(examples=["What was decided, and why?"])
    history: list[PriorTurn] = Field(default_factory=list, max_length=50)
    types: list[TypeName] = Field(default_factory=list, max_length=TYPES_MAX)
    filters: AskFilters = AskFilters()
    fresh: StrictBool = Field(default=False, description=_FRESH)
    understood: Understood | None = Field(
        default=None, description="Answer by this query instead of the reading: that of an answer, as it was or edited."
    )

    @property
    def filters_itself(self) -> bool:
        """Whether it says which records are meant, be it all of them."""
        return bool(self.model_fields_set & {"types", "filters"})

    @property
    def questions(self) -> list[str]:
        """The user's questions, the newest first."""
        return [self.question, *(turn.question for turn in reversed(self.recent_history))]

    @property
    def recent_history(self) -> list[PriorTurn]:
        return self.history[-HISTORY_TURNS:]

    def as_asked(self) -> dict[str, Any]:
        recent = self.model_copy(update={"history": self.recent_history}) if self.history else self
        stated = recent.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude={"fresh"})
        for turn in stated.get("history", ()):
            turn["answer"] = ""
        return stated


class AskQuery(Filtered):
    """`GET /records/ask`, for EventSource. `context` is a JSON array of `{question, answer}`, or the plain text of an answer."""

    q: QueryText
    context: Annotated[str, StringConstraints(max_length=HISTORY_CHARACTERS_MAX), Storable] = ""
    fresh: bool = Field(default=False, description=_FRESH)
    after_seq: str = Field(default="", pattern=PLACE_PATTERN, description=AFTER_SEQ)

    def to_request(self) -> AskRequest:
        request = AskRequest(question=self.q, history=_turns(self.context), fresh=self.fresh)
        if not (self.type or self.facets or self.from_date or self.to_date):
            return request
        filters = AskFilters.model_construct(from_date=self.from_date, to_date=self.to_date, facets=dict(self.facets))
        return request.model_copy(update={"types": self.type, "filters": filters})


def _turns(context: str) -> list[PriorTurn]:
    if not context.strip():
        return []
    try:
        return _TURNS.validate_json(context)[-HISTORY_TURNS:]
    except ValidationError:
        return [PriorTurn(question="", answer=context)]


class Source(LazyModel):
    """A source of an answer, cited by its number `n`. `similarity` is its cosine to the query that found it; its `url`
    does not go out.
    """

    n: int
    type: RecordType
    id: str
    title: str
    snippet: str
    date: datetime.date | None = None
    meeting_id: str | None = None
    url: Annotated[str | None, Field(exclude=True)] = None
    similarity: float | None = None


class IntentEvent(Event):
    type: Literal["intent"] = "intent"
    intent: Intent


class ToolCallEvent(Event):
    type: Literal["tool_call"] = "tool_call"
    id: str
    tool: str
    arguments: dict[str, Any]


class ToolObservationEvent(Event):
    type: Literal["tool_observation"] = "tool_observation"
    id: str
    tool: str
    count: int
    summary: str


class SourcesEvent(Event):
    type: Literal["sources"] = "sources"
    sources: list[Source]


class AggregationEvent(Event):
    """A number that was asked for, exact: how many records there are, or how many different values of what `by` names.

    `by` is what they are grouped by: fields or a period; `filters` what they have in common, by the names that a request has for
    it. There are `group_count` groups; `groups` holds at most 50: the latest periods, else the first; `other` is how many
    records are in the rest. A record with several values counts in the group of each. Where something was calculated from a
    number, `of` says what (`sum(price)`), `value` is that of all records, and each group has its own by the same name: as text
    where no number of JSON has it exactly. `columns` say what the keys and the numbers of a group are. `query`
    asks for the same by `POST /query`, and `sentence` says both in words.
    """

    type: Literal["aggregation"] = "aggregation"
    by: str | None
    groups: list[AggregationGroup]
    group_count: int = 0
    total: int
    other: int = 0
    of: str | None = None
    value: float | str | None = None
    filters: dict[str, Any]
    columns: list[ResultColumn] = []
    query: ShortQuery | None = None
    sentence: str | None = None

    def to_json(self) -> str:
        return self.model_dump_json()


class UnderstoodEvent(Event, Understood):
    """How a question that an exact result answers was understood."""

    type: Literal["understood"] = "understood"


class ResultOfQuery(LazyModel):
    """The result of a Query that a model asked: its first rows, and `total`, how many rows of the source it is about."""

    n: int
    sentence: str
    columns: list[str]
    rows: list[list[Cell]]
    total: int
    query: ShortQuery


class ResultsEvent(Event):
    """The results that a model's answer rests on, the main one first."""

    type: Literal["results"] = "results"
    results: list[ResultOfQuery]


class AnswerChunkEvent(Event):
    """The next piece of the answer: Markdown with `[1]`-style citations."""

    type: Literal["final_answer_chunk"] = "final_answer_chunk"
    chunk: str


class TextWithdrawnEvent(Event):
    """All chunks so far are withdrawn, with the sources and numbers that came with them: most of what they say is not borne out.
    The answer by rule follows.
    """

    type: Literal["text_withdrawn"] = "text_withdrawn"
    reason: str


class Citation(LazyModel):
    """What stands behind a marker `[n]`: the sentence, and the passage of the source that supports it best, with its place in the
    source's text. `support` is the share of what the sentence says that the passage holds; `verified`: the claim is borne out.
    """

    n: int
    sentence: str
    quote: str | None = None
    start: int | None = None
    end: int | None = None
    support: float
    verified: bool


class CitationsEvent(Event):
    """How the sources support the answer. `unsupported` are its statements that are flagged, in words."""

    type: Literal["citations"] = "citations"
    citations: list[Citation]
    unsupported: list[str]
    statements: list[CheckedStatement] = []


class ConfidenceEvent(Event):
    type: Literal["confidence"] = "confidence"
    level: ConfidenceLevel
    source_count: int
    label: str


class FollowupsEvent(Event):
    type: Literal["followups"] = "followups"
    questions: list[str]


class Applied(LazyModel):
    """The types and filters that an answer was made from, as requests have them, and in words. A history hands them on."""

    types: list[RecordType]
    filters: AskFilters
    label: str


class DoneEvent(Event):
    """The last event. `answer_id` is null when the answer could not be stored, or quotes what was forgotten meanwhile. `degraded`
    names the steps that a fallback served for a failing model. `applied` is null where all records were searched. `shared`:
    whoever has the answer's link can open it.
    """

    type: Literal["done"] = "done"
    answer_id: str | None
    cached: bool
    topic_changed: bool
    degraded: list[str]
    applied: Applied | None = None
    shared: bool = True

    def to_json(self) -> str:
        return self.model_dump_json(by_alias=True)


class ChangedRecord(LazyModel):
    """A record that an answer cites, and what became of it since."""

    n: int
    type: RecordType
    id: str
    title: str
    change: Literal["changed", "gone"]


class OwnAnswer(LazyModel):
    """`GET /me/answers/{id}`: whether an answer is the caller's, who may revoke it then, and whether it opens by its link."""

    id: Identifier
    revocable: bool
    shared: bool


class ShareRequest(Request):
    """`POST /me/answers/{id}/share`."""

    shared: Literal[True] = True


class CachedAnswer(LazyModel):
    """`GET /answers/{id}`: a finished answer as it was given, with how its sources support it, as its `citations` event told.
    `changed_since` are the records it cites that changed or went.
    """

    id: Identifier
    query: str
    answer: str
    sources: list[Source]
    suggested_followups: list[str]
    source_count: int
    confidence: ConfidenceLevel | None = None
    confidence_label: str | None = None
    created_at: datetime.datetime
    expires_at: datetime.datetime
    citations: list[Citation]
    unsupported: list[str]
    statements: list[CheckedStatement]
    changed_since: list[ChangedRecord]


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
