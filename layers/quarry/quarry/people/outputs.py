"""What a model must return when it reads a query for people, and when it says why people were found.

The types forgive what normalisation mends: a list given as null or as one text, a value outside the taxonomy, a detail left out.
The schema that the model is shown does not: there every key is required.
"""

from __future__ import annotations

from typing import Annotated, Any, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema

from quarry.people.contract import EmploymentType, Intent, SeniorityLevel
from quarry.platform.lazy_model import LazyModel
from quarry.platform.text import CleanText


def _listed(value: Any) -> Any:
    if isinstance(value, list):
        return [each for each in value if each is not None]
    return [] if value is None else [value]


def _one_of(values: Any) -> WithJsonSchema:
    return WithJsonSchema({"type": "array", "items": {"type": "string", "enum": list(get_args(values))}})


Quotes = Annotated[list["Quote"], BeforeValidator(_listed)]
Said = Annotated[CleanText, BeforeValidator(lambda value: "" if value is None else value)]
Texts = Annotated[list[CleanText], BeforeValidator(_listed)]
Intents = Annotated[Texts, _one_of(Intent)]
EmploymentTypes = Annotated[Texts, _one_of(EmploymentType)]
SeniorityLevels = Annotated[Texts, _one_of(SeniorityLevel)]


class MustMatch(LazyModel):
    """What has to hold."""

    company_norm: Texts = Field([], description="Employers, and schools where no employer is named.")
    school_norm: Texts = []
    team_norm: Texts = []
    role: Texts = Field(
        [], description='What they must be, do or know, each; other names for it behind bars: "nurse|rn".'
    )
    intent_primary: Intents = []
    domain: Texts = []
    sub_domain: Texts = []
    employment_type: EmploymentTypes = []
    seniority_level: SeniorityLevels = []
    location_text: CleanText | None = Field(None, description="A place that is no city or country, or several with or.")
    city: CleanText | None = None
    country: CleanText | None = None
    preferred_locations: Texts = Field([], description='Where they want to work, or "remote".')
    or_preferred_locations: Texts = Field(
        [], description='The same as an alternative to the place: "remote" in "Chennai or remote".'
    )
    time_start: CleanText | None = Field(None, description="YYYY-MM-DD, the time they were there.")
    time_end: CleanText | None = None
    started_from: CleanText | None = Field(None, description="YYYY-MM-DD, when it began.")
    started_until: CleanText | None = None
    ended_from: CleanText | None = Field(None, description="YYYY-MM-DD, when it ended.")
    ended_until: CleanText | None = None
    is_current: bool | None = Field(None, description="True: there now. False: left.")
    open_to_work_only: bool | None = None
    offer_salary_inr_per_year: float | None = Field(None, description="At most; 12 LPA is 1200000.")
    experience_years_min: float | None = None
    experience_years_max: float | None = None
    name: Texts = Field([], description="Who is asked for by name.")
    text: Texts = Field([], description="Words that the profile must hold.")


class ShouldMatch(LazyModel):
    """What makes a person fit better."""

    skills_or_tools: Texts = []
    keywords: Texts = []
    intent_secondary: Intents = []
    company_norm: Texts = []
    team_norm: Texts = []
    location: Texts = []


class MustNotMatch(LazyModel):
    """What is ruled out."""

    company_norm: Texts = []
    keywords: Texts = []
    team_norm: Texts = []
    location: Texts = []
    is_current: bool | None = None
    open_to_work: bool | None = None


class Quote(LazyModel):
    """The words of the query that say the value of a key."""

    key: CleanText = Field(description='Such as "must.city".')
    words: CleanText


class PeopleQuery(LazyModel):
    """A query for people as constraints."""

    must: MustMatch
    should: ShouldMatch
    exclude: MustNotMatch
    query_embedding_text: Said = ""
    confidence_score: float | None = Field(0.0, ge=0, le=1)
    quotes: Quotes = Field([], description="For each key with a value.")


class PersonReasons(LazyModel):
    """Why one person was found."""

    person_id: CleanText
    why_matched: Texts = []


class PeopleReasons(LazyModel):
    """Why the people were found, each by the id that was given."""

    people: list[PersonReasons]
