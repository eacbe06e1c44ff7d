"""What a model must return when it reads a query for people, and when it says why people were found.

The types forgive what normalisation mends: a list given as null or as one text, a value outside the taxonomy, a detail left out.
The schema that the model is shown does not: there every key is required.
"""

from __future__ import annotations

from typing import Annotated, Any, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema

from quarry.core.lazy_model import LazyModel
from quarry.core.text import CleanText
from quarry.people.contract import EmploymentType, Intent, SeniorityLevel


def _listed(value: Any) -> Any:
    if isinstance(value, list):
        return [each for each in value if each is not None]
    return [] if value is None else [value]


def _one_of(values: Any) -> WithJsonSchema:
    return WithJsonSchema({"type": "array", "items": {"type": "string", "enum": list(get_args(values))}})


Said = Annotated[CleanText, BeforeValidator(lambda value: "" if value is None else value)]
Texts = Annotated[list[CleanText], BeforeValidator(_listed)]
Intents = Annotated[Texts, _one_of(Intent)]
EmploymentTypes = Annotated[Texts, _one_of(EmploymentType)]
SeniorityLevels = Annotated[Texts, _one_of(SeniorityLevel)]


class MustMatch(LazyModel):
    """What the query clearly requires."""

    company_norm: Texts = Field([], description="Employers and schools, lower case.")
    team_norm: Texts = Field([], description="Teams within a company, lower case.")
    intent_primary: Intents = []
    domain: Texts = []
    sub_domain: Texts = []
    employment_type: EmploymentTypes = []
    seniority_level: SeniorityLevels = []
    location_text: CleanText | None = Field(None, description="The place as the query names it.")
    city: CleanText | None = None
    country: CleanText | None = None
    time_start: CleanText | None = Field(None, description="YYYY-MM-DD")
    time_end: CleanText | None = Field(None, description="YYYY-MM-DD")
    is_current: bool | None = None
    open_to_work_only: bool | None = None
    offer_salary_inr_per_year: float | None = Field(None, description="What is offered, in Indian rupees a year.")


class ShouldMatch(LazyModel):
    """What makes a person fit better."""

    skills_or_tools: Texts = []
    keywords: Texts = []
    intent_secondary: Intents = []


class MustNotMatch(LazyModel):
    """Whom the query rules out."""

    company_norm: Texts = []
    keywords: Texts = []


class PeopleQuery(LazyModel):
    """A query for people as constraints."""

    query_original: Said = ""
    query_cleaned: Said = ""
    must: MustMatch
    should: ShouldMatch
    exclude: MustNotMatch
    search_phrases: Texts = Field([], description="5 to 15 short phrases that combine the main constraints.")
    query_embedding_text: Said = Field(
        "", description="What the query is about, for semantic search: must, should, key nouns and verbs."
    )
    confidence_score: float | None = Field(0.0, description="0 to 1: how sure this reading is.")


class PersonReasons(LazyModel):
    """Why one person was found."""

    person_id: CleanText
    why_matched: Texts = Field([], description="One to three short reasons.")


class PeopleReasons(LazyModel):
    """Why the people were found, each by the id that was given."""

    people: list[PersonReasons]
