"""What goes over the wire for campaigns: requests and answers in camelCase, a campaign by the names of its columns."""

from __future__ import annotations

import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, StrictBool, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

from quarry.platform.contract import AggregationGroup, Day, LazyModel, Request
from quarry.platform.text import QueryText, Storable, StorableWords
from quarry.query.contract import ResultColumn, ShortQuery, Understood
from quarry.streaming.events import Event
from quarry.streaming.events import ToolObserved as Observed
from quarry.verification.wire import CheckedStatement, Confidence

HISTORY_MESSAGES_MAX = 50
MESSAGE_CHARACTERS_MAX = 20_000
FILTER_VALUES_MAX = 50

EmbeddingField = Literal["profile", "campaign_text", "offer", "key_value_props"]
"""What a campaign is compared by: all of it, its copy, its offer, or its value propositions."""

EndReason = Literal["answered", "nothing_found", "budget_spent"]

FilterValue = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), StorableWords]


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


_Several = Annotated[list[FilterValue], Field(max_length=FILTER_VALUES_MAX)]
FilterValues = Annotated[_Several, BeforeValidator(_as_list, json_schema_input_type=FilterValue | _Several)]
"""One value, or several of which any suffices."""


class DateRange(LazyModel):
    """Days of capture, both inclusive; either may be left out."""

    model_config = ConfigDict(extra="forbid", validate_by_name=True, serialize_by_alias=True)

    from_date: Day | None = Field(default=None, alias="from")
    to_date: Day | None = Field(default=None, alias="to")

    @classmethod
    def between(cls, from_date: datetime.date | None = None, to_date: datetime.date | None = None) -> Self:
        """The range from one day to the other."""
        return cls.model_validate({"from": from_date, "to": to_date})

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.from_date and self.to_date and self.from_date > self.to_date:
            raise ValueError("`from` must not be later than `to`")
        return self


class CampaignFilters(LazyModel):
    """Filters on campaigns; all that are given must hold, and what is left out filters nothing.

    `date_range` may be the word "recent": the 90 days before the latest capture.
    """

    model_config = ConfigDict(extra="forbid")

    channel: FilterValues = Field(default=[], description="Where it ran.")
    company: FilterValues = Field(default=[], description="Who advertises.")
    brand: FilterValues = Field(default=[], description="What is advertised.")
    value_prop: FilterValues = Field(default=[], description="What it promises.")
    sentiment: FilterValues = Field(default=[], description="The mood of its imagery.")
    visual_style: FilterValues = Field(default=[], description="The look of its imagery.")
    offer: FilterValue | None = Field(default=None, description="Words of the offer.")
    has_offer: StrictBool | None = Field(default=None, description="Whether there is an offer.")
    date_range: DateRange | Literal["recent"] | None = Field(default=None, description="When it was captured.")

    def in_force(self) -> dict[str, Any]:
        """What filters something, as JSON values."""
        values = self.model_dump(mode="json", by_alias=True, exclude_none=True)
        return {name: value for name, value in values.items() if value != []}


class ExcludedValues(LazyModel):
    """Values that no campaign of a result may have."""

    model_config = ConfigDict(extra="forbid")

    channel: FilterValues = []
    company: FilterValues = []
    brand: FilterValues = []
    value_prop: FilterValues = []
    sentiment: FilterValues = []
    visual_style: FilterValues = []


FILTER_VALUES = tuple(ExcludedValues.model_fields)
"""The filters on values: each is called as the field that it is on."""


class HistoryMessage(Request):
    """One earlier message of the chat."""

    role: Literal["user", "assistant"]
    content: Annotated[str, StringConstraints(max_length=MESSAGE_CHARACTERS_MAX), Storable]


class ChatRequest(Request):
    """`POST /campaigns/chat`. `activeFilters` are those of the page; with `applyFiltersToQuery` they hold in every search."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, validate_by_name=True)

    message: QueryText = Field(examples=["How many campaigns ran by email?"])
    history: list[HistoryMessage] = Field(default_factory=list, max_length=HISTORY_MESSAGES_MAX)
    active_filters: CampaignFilters | None = None
    apply_filters_to_query: StrictBool = False
    understood: Understood | None = Field(
        default=None, description="Takes the place of the reading: that of an answer, as it was or edited."
    )

    @property
    def questions(self) -> list[str]:
        """The user's questions, the newest first."""
        return [self.message, *(each.content for each in reversed(self.history) if each.role == "user")]

    def as_asked(self) -> dict[str, Any]:
        stated = super().as_asked()
        if "history" in stated:
            stated["history"] = [message for message in stated["history"] if message["role"] == "user"]
        return stated

    @property
    def base_filters(self) -> CampaignFilters:
        """The filters that hold in every search."""
        return (self.active_filters if self.apply_filters_to_query else None) or CampaignFilters()


class Campaign(LazyModel):
    """One whole campaign."""

    id: str
    company: str
    brand: str | None = None
    channel: str
    offer: str | None = None
    key_value_props: list[str] = []
    imagery_sentiment: str | None = None
    imagery_visual_style: str | None = None
    capture_date: datetime.date | None = None
    campaign_text: str
    full_campaign_text: str | None = None
    url: str | None = None


class FoundCampaign(Campaign):
    """A campaign of an answer, and which conditions it meets and misses, in words."""

    meets: list[str] = []
    misses: list[str] = []


AGGREGATED = ("channel", "sentiment", "value_prop")
"""What the campaigns of an answer are counted by."""


class Aggregation(LazyModel):
    """How many campaigns of a set there are for each value, most frequent first. One with several values counts for each. The
    empty value counts those without any; values that differ only in case, accents and outer spaces are one.

    `query` asks by `POST /query` for what the answer was found or counted by, where a query can say it: nothing that was found by
    its meaning. `sentence` says what came of it. `groups` are the first groups of such a query, in its order, and `columns` what
    their keys and numbers are.
    """

    channel: dict[str, int] = {}
    sentiment: dict[str, int] = {}
    value_prop: dict[str, int] = {}
    groups: list[AggregationGroup] = []
    columns: list[ResultColumn] = []
    query: ShortQuery | None = None
    sentence: str | None = None


class _Wire(LazyModel):
    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, serialize_by_alias=True)


class Telemetry(_Wire):
    """How the answer came about. `turn_count` counts the model's turns."""

    run_id: str
    turn_count: int
    tool_call_count: int
    end_reason: EndReason
    degraded_steps: list[str]


class ChatResponse(_Wire):
    """The answer. `campaigns` is the set it speaks of, at most 200 of them; `total` counts the whole set, `aggregation` too.
    `more`: there are more than were counted, and `total` is how many there are at least. Of very many, or of those with very many
    different values, `aggregation` is left out.

    `detected_filters` are those that the question was taken to mean, as the page's filters are given, and with them where they
    were applied; `understood` is all that the question was taken to say, negations and further conditions too. `statements`
    are those of a model with what the check found, `unsupported` the flagged ones in words, and `confidence` follows from them.
    """

    response: str
    campaigns: list[FoundCampaign]
    total: int
    more: bool = False
    aggregation: Aggregation | None = None
    unsupported: list[str] = []
    statements: list[CheckedStatement] = []
    confidence: Confidence | None = None
    suggestions: list[str]
    detected_filters: dict[str, Any]
    understood: Understood | None = None
    telemetry: Telemetry


class ToolObserved(Observed):
    """What a tool found: how many campaigns, a line about them for people, and the ids of the first ones."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, serialize_by_alias=True)

    campaign_ids: list[str]


class ToolObservationEvent(Event):
    type: Literal["tool_observation"] = "tool_observation"
    data: ToolObserved


class FinalAnswerEvent(Event):
    """The last event of a chat that did not fail."""

    type: Literal["final_answer"] = "final_answer"
    data: ChatResponse
