"""What goes over the wire for companies: requests and answers in camelCase, a company by the names of its columns."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, StrictBool, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

from quarry.companies.tables import FundingStage, Status
from quarry.platform.contract import DEPRECATED, EVIDENCE_MAX, AggregationGroup, Evidence, LazyModel, Request
from quarry.platform.text import QUERY_MAX_CHARACTERS, CleanText, Identifier, Storable
from quarry.query.contract import ResultColumn, ShortQuery, Understood
from quarry.streaming.events import Event
from quarry.verification.wire import CheckedStatement, Confidence

MESSAGES_MAX = 50
MESSAGE_CHARACTERS_MAX = 20_000
PREVIOUS_CANDIDATES_MAX = 50
EVIDENCE_CHIPS_MAX = 5
CONDITIONS_MAX = 40
VALUES_MAX = 200
VALUE_CHARACTERS_MAX = 200

Strength = Literal["required", "assumed", "preferred"]

FieldName = Literal[
    "name", "former_name", "domain", "sector", "category", "business_model", "niche", "status", "city", "country", "founded_year",
    "closed_year", "employees", "funding_stage", "funding", "founder", "acquirer",
]  # fmt: skip
"""What conditions are about."""
MEASURED_FIELDS = ("founded_year", "closed_year", "employees", "funding")

EndReason = Literal["exact_match", "confidence_met", "converged", "guardrail_hit", "error"]
ActivityStatus = Literal["running", "completed", "failed"]

_ON_THE_WIRE = ConfigDict(frozen=True, alias_generator=to_camel, validate_by_name=True, serialize_by_alias=True)


class _Request(Request):
    model_config = ConfigDict(alias_generator=to_camel)


class _Model(LazyModel):
    model_config = _ON_THE_WIRE


class ChatMessage(_Request):
    """One message of the conversation so far. An assistant's may be long; what a user asks is 1 to 2,000 characters."""

    role: Literal["user", "assistant"]
    content: Annotated[str, StringConstraints(strip_whitespace=True, max_length=MESSAGE_CHARACTERS_MAX), Storable]


class ClientContext(_Request):
    """What the client remembers of the conversation: the companies that the last answer referred to, best first."""

    previous_candidate_ids: list[Identifier] = Field(default_factory=list, max_length=PREVIOUS_CANDIDATES_MAX)


Value = Annotated[CleanText, StringConstraints(max_length=VALUE_CHARACTERS_MAX)]


class Condition(_Request):
    """What companies must, or should, be like in one field: any of `values`, or from `least` to `most`, both inclusive; with
    neither, any value at all.

    required: none is shown that does not meet it; assumed: so as long as some meet it; preferred: it only speaks for a
    company. Conditions of the same `group` are alternatives.
    """

    field: FieldName
    values: list[Value] = Field(default_factory=list, max_length=VALUES_MAX)
    least: float | None = Field(default=None, allow_inf_nan=False, strict=True)
    most: float | None = Field(default=None, allow_inf_nan=False, strict=True)
    negated: StrictBool = False
    strength: Strength = "required"
    group: int | None = Field(default=None, ge=0, le=CONDITIONS_MAX, strict=True)
    label: Value | None = Field(default=None, description="The condition in words; ignored in a request.")

    @model_validator(mode="after")
    def _of_its_field(self) -> Self:
        limits = [limit for limit in (self.least, self.most) if limit is not None]
        if self.values if self.field in MEASURED_FIELDS else limits:
            raise ValueError("`least` and `most` belong to years and numbers, and values to the other fields")
        if limits != sorted(limits):
            raise ValueError("`least` must not be more than `most`")
        return self


class Constraints(_Request):
    """The former form of how a question was understood: `understood` says it now. `topic` is found by words and by meaning."""

    topic: Annotated[str, StringConstraints(strip_whitespace=True, max_length=QUERY_MAX_CHARACTERS), Storable] = ""
    conditions: list[Condition] = Field(default_factory=list, max_length=CONDITIONS_MAX)
    excluded: list[Value] = Field(
        default_factory=list, max_length=CONDITIONS_MAX, description="Words that no company may speak of."
    )
    evidence: list[Evidence] = Field(default_factory=list, max_length=EVIDENCE_MAX)


class ChatRequest(_Request):
    """`POST /companies/chat`. The last message is the user's question. `understood`, where given, replaces how it is
    read: that of an answer, as it was or edited.
    """

    messages: list[ChatMessage] = Field(min_length=1, max_length=MESSAGES_MAX)
    understood: Understood | None = None
    constraints: Constraints | None = Field(
        default=None, json_schema_extra=DEPRECATED, description="The former form of `understood`."
    )
    client_context: ClientContext | None = None
    session_id: Identifier | None = None

    @model_validator(mode="after")
    def _ends_in_a_question(self) -> Self:
        last = self.messages[-1]
        if last.role != "user":
            raise ValueError("the last message must be the user's")
        if not 1 <= len(last.content) <= QUERY_MAX_CHARACTERS:
            raise ValueError(f"the last message must have 1 to {QUERY_MAX_CHARACTERS} characters")
        return self

    @property
    def question(self) -> str:
        """What the user asks now."""
        return self.messages[-1].content

    @property
    def questions(self) -> list[str]:
        """The user's questions, the newest first."""
        return [each.content for each in reversed(self.messages) if each.role == "user"]

    def as_asked(self) -> dict[str, Any]:
        stated = super().as_asked()
        return stated | {"messages": [message for message in stated["messages"] if message["role"] == "user"]}

    @property
    def previous_candidate_ids(self) -> list[str]:
        return list(dict.fromkeys(self.client_context.previous_candidate_ids)) if self.client_context else []

    @property
    def history(self) -> list[ChatMessage]:
        """The messages before the question."""
        return self.messages[:-1]


class Company(LazyModel):
    """One whole company, by the names of its columns."""

    model_config = ConfigDict(frozen=True)

    id: str
    company_name: str
    former_names: list[str] = []
    tagline: str | None = None
    description: str | None = None
    product_description: str | None = None
    target_customer: str | None = None
    problem_solved: str | None = None
    differentiator: str | None = None
    niches: list[str] = []
    sectors: list[str] = []
    categories: list[str] = []
    business_models: list[str] = []
    status: Status
    website_url: str | None = None
    founded_year: int | None = None
    hq_city: str | None = None
    hq_country: str | None = None
    employee_count: int | None = None
    funding_stage: FundingStage | None = None
    total_funding_usd: int | None = None
    founders: list[str] = []
    acquirer: str | None = None
    closed_year: int | None = None


class Reference(_Model):
    """A company that the answer offers: why, what it does in a line, what speaks for it, and how sure we are (0 to 1);
    and which conditions it meets and misses, in words.
    """

    company_id: str
    company_name: str
    reason: str
    inline_description: str
    evidence_chips: list[str] = Field(max_length=EVIDENCE_CHIPS_MAX)
    confidence: float = Field(ge=0, le=1)
    meets: list[str] = Field(default_factory=list)
    misses: list[str] = Field(default_factory=list)


class Telemetry(_Model):
    """How the search went. `degraded_steps` names the steps that a fallback, or less than was asked for, served."""

    run_id: str
    iteration_count: int
    tool_call_count: int
    end_reason: EndReason
    degraded_steps: list[str]


class Activity(_Model):
    """A step as the user sees it. A later one of the same `id` replaces it; `duration_ms` comes when it is over."""

    id: str
    label: str
    status: ActivityStatus
    detail: str | None = None
    duration_ms: float | None = None


class Aggregation(_Model):
    """A number that was asked for, exact. `total` is how many companies it is about; what was calculated from them is `of`
    (`avg(funding)`), `value` is that of all of them, and each group has its own by the same name.

    `by` is what they are grouped by: there are `group_count` groups; `groups` holds at most 50, and `other` is how many companies
    are in the rest. Groups add up to the companies counted, unless they are `overlapping`: a company with several values counts
    in each. `columns` say what the keys and the numbers of a group are. `query` asks for the same by `POST /query`, and
    `sentence` says it in words.
    """

    by: str | None
    groups: list[AggregationGroup]
    group_count: int = 0
    total: int
    other: int = 0
    of: str | None = None
    value: float | str | None = None
    overlapping: bool = False
    columns: list[ResultColumn] = []
    query: ShortQuery | None = None
    sentence: str | None = None


class FinalAnswer(_Model):
    """The whole answer. `content` is what the pieces add up to; `references` are best first, none when nothing fits.
    `aggregation` is there where a number was asked for; `references` then are the first that were counted. `session_id` is
    that of the request, or a new one: it joins the turns of a chat that send it. `statements` are those of a model with what the
    check found, at their places in `content`, and `confidence` follows from them.
    """

    content: str
    references: list[Reference]
    understood: Understood | None = None
    constraints: Constraints = Field(
        default_factory=Constraints, json_schema_extra=DEPRECATED, description="The former form of `understood`."
    )
    companies_by_id: dict[str, Company]
    telemetry: Telemetry
    aggregation: Aggregation | None = None
    session_id: str | None = None
    statements: list[CheckedStatement] = []
    confidence: Confidence | None = None


class ActivityEvent(Event):
    type: Literal["activity"] = "activity"
    data: Activity


class FinalAnswerEvent(Event):
    """The last event of a chat that did not fail."""

    type: Literal["final_answer"] = "final_answer"
    data: FinalAnswer
