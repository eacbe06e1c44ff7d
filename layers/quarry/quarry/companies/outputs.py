"""What a model must return in the steps of a company search: the plan, the ranking, the critique.

The schema shown to the model requires every field; answers with missing fields or long lists are accepted all the same.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from quarry.companies.candidates import Source
from quarry.companies.contract import EVIDENCE_CHIPS_MAX
from quarry.companies.query import COUNT_MAX
from quarry.platform.lazy_model import LazyModel
from quarry.platform.text import CleanText

VARIANTS_PLANNED_MAX = 6
VARIANTS_ADDED_MAX = 3
CANDIDATES_RANKED_MAX = 100

Search = Literal["exact_name", Source]


class _Decision(LazyModel):
    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True)


class PlanFilters(_Decision):
    """What every company must meet. Empty lists demand nothing."""

    statuses: list[CleanText] = Field(
        default_factory=list, description="startup, acquired, public or closed; startup unless the user asks for others"
    )
    sectors: list[CleanText] = Field(default_factory=list, description="only sectors that are listed")
    categories: list[CleanText] = Field(default_factory=list, description="only categories that are listed")
    business_models: list[CleanText] = Field(default_factory=list, description="only business models that are listed")
    niches: list[CleanText] = Field(
        default_factory=list, description="short phrases for the exact specialism asked for"
    )
    niche_mode: Literal["boost", "must_match"] = Field(
        default="boost",
        description="must_match: companies without any of these niches are left out; boost: companies with one come first",
    )


class CompanyPlan(_Decision):
    """How to search for what the user asks."""

    TOKENS_MAX: ClassVar[int] = 1_000

    intent: Literal["discover", "narrow", "compare", "find_company"]
    target_result_count: int = Field(ge=1, le=COUNT_MAX, description="how many companies the user wants to see")
    query_variants: list[CleanText] = Field(
        min_length=1,
        json_schema_extra={"maxItems": VARIANTS_PLANNED_MAX},
        description="different phrasings, in words that a company's profile would use",
    )
    search_priority_order: list[Search] = Field(
        default_factory=list, description="the searches to run, the most promising first"
    )
    filters: PlanFilters = Field(default_factory=PlanFilters)
    success_criteria: CleanText = Field(default="", description="in one sentence, what a good result looks like")


class RankedCompany(_Decision):
    """One company that fits, and why."""

    company_id: CleanText
    reason: CleanText = Field(
        default="", description="one sentence: why it fits this question, from what its profile says"
    )
    inline_description: CleanText = Field(default="", description="what the company does, in at most 15 words")
    evidence_chips: list[CleanText] = Field(
        default_factory=list,
        json_schema_extra={"maxItems": EVIDENCE_CHIPS_MAX},
        description="labels of one to four words that speak for it",
    )
    confidence: float = Field(ge=0, le=1)


class Reranking(_Decision):
    """The companies that fit, best first. Those that do not fit are left out."""

    TOKENS_MAX: ClassVar[int] = 5_000

    confidence: float = Field(ge=0, le=1, description="how well the best of them answer the question")
    ranked_company_ids: list[CleanText] = Field(
        json_schema_extra={"maxItems": CANDIDATES_RANKED_MAX},
        description="ids of the companies that fit, best first; only ids that were given",
    )
    per_company: list[RankedCompany] = Field(
        default_factory=list, json_schema_extra={"maxItems": CANDIDATES_RANKED_MAX}
    )


class Critique(_Decision):
    """Whether to search on."""

    TOKENS_MAX: ClassVar[int] = 300

    decision: Literal["continue", "stop"]
    why: CleanText = ""
    new_query_variants: list[CleanText] = Field(
        default_factory=list,
        json_schema_extra={"maxItems": VARIANTS_ADDED_MAX},
        description="phrasings that were not tried yet, if another search can help",
    )
