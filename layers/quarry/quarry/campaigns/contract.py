"""What goes over the wire for campaigns: requests and answers in camelCase, a campaign by the names of its columns."""

from __future__ import annotations

import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

from quarry.core.contract import Day, Request
from quarry.core.stream.events import Event
from quarry.core.text import QueryText, Storable, StorableWords

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


class DateRange(BaseModel):
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


class CampaignFilters(BaseModel):
    """Filters on campaigns; all that are given must hold, and what is left out filters nothing.

    `date_range` may be the word "recent": the 90 days before the latest capture.
    """

    model_config = ConfigDict(extra="forbid")

    channel: FilterValues = Field(default=[], description="Where it ran, such as Email or TV.")
    company: FilterValues = Field(default=[], description="Who advertises.")
    brand: FilterValues = Field(default=[], description="The product or brand advertised.")
    value_prop: FilterValues = Field(default=[], description="What it promises, such as a fee waived or points earned.")
    sentiment: FilterValues = Field(default=[], description="The mood of its imagery.")
    visual_style: FilterValues = Field(default=[], description="The look of its imagery.")
    offer: FilterValue | None = Field(default=None, description="Words that the offer contains.")
    has_offer: StrictBool | None = Field(default=None, description="Whether it makes an offer at all.")
    date_range: DateRange | Literal["recent"] | None = Field(default=None, description="When it was captured.")

    def given(self) -> dict[str, Any]:
        """What filters something, as JSON values."""
        values = self.model_dump(mode="json", by_alias=True, exclude_none=True)
        return {name: value for name, value in values.items() if value != []}


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

    @property
    def base_filters(self) -> CampaignFilters:
        """The filters that hold in every search."""
        return (self.active_filters if self.apply_filters_to_query else None) or CampaignFilters()


class Campaign(BaseModel):
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


class Aggregation(BaseModel):
    """How many campaigns of a set there are for each value, most frequent first. One with several values counts for each."""

    channel: dict[str, int] = {}
    sentiment: dict[str, int] = {}
    value_prop: dict[str, int] = {}


class _Wire(BaseModel):
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

    `detected_filters` are those that the question was taken to mean, the page's included where they were applied.
    """

    response: str
    campaigns: list[Campaign]
    total: int
    aggregation: Aggregation | None = None
    suggestions: list[str]
    detected_filters: dict[str, Any]
    telemetry: Telemetry


class ToolCalled(_Wire):
    id: str
    tool: str
    arguments: dict[str, Any]


class ToolObserved(_Wire):
    """What a tool found: how many campaigns, a line about them for people, and the ids of the first ones."""

    id: str
    tool: str
    count: int
    summary: str
    campaign_ids: list[str]


class PartialText(_Wire):
    """The next piece of the answer; the pieces add up to `response`."""

    text: str


class ToolCallEvent(Event):
    type: Literal["tool_call"] = "tool_call"
    data: ToolCalled


class ToolObservationEvent(Event):
    type: Literal["tool_observation"] = "tool_observation"
    data: ToolObserved


class PartialTextEvent(Event):
    type: Literal["partial_text"] = "partial_text"
    data: PartialText


class FinalAnswerEvent(Event):
    """The last event of a chat that did not fail."""

    type: Literal["final_answer"] = "final_answer"
    data: ChatResponse
