"""The requests and responses for people, and what a model returns when it reads a query and gives reasons.

The types for the model forgive what can be mended: a list given as null or as one text, a value outside the taxonomy, a detail
left out or unknown. The schema that the model is shown does not: there every key is required.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    StrictBool,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)

from quarry.language.messages import gettext_noop
from quarry.people.tables import EmploymentType, Intent, Rupees, SeniorityLevel
from quarry.platform.contract import DEPRECATED, Evidence, LazyModel, Request
from quarry.platform.text import CleanText, Identifier, QueryText, Storable, StorableWords, storable
from quarry.query.contract import Understood

FALLBACK_TIERS = {
    0: gettext_noop("strict"),
    1: gettext_noop("time relaxed"),
    2: gettext_noop("location relaxed"),
    3: gettext_noop("company and team relaxed"),
}

DISCOVER_LIMIT_MAX = 100
PlaceName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=120), StorableWords]


def _values_of(taxonomy: Any) -> WithJsonSchema:
    return WithJsonSchema({"type": "array", "items": {"type": "string", "enum": list(get_args(taxonomy))}})


Intents = Annotated[list[str], _values_of(Intent)]
Number = Annotated[float, Field(strict=True)]


class Must(Request):
    """Hard constraints. Names are lower case and trimmed; dates are YYYY-MM-DD; the salary is INR a year."""

    company_norm: list[str] = Field(default=[], description="Employers, and schools where no employer is named.")
    school_norm: list[str] = []
    team_norm: list[str] = []
    intent_primary: Intents = []
    domain: list[str] = []
    sub_domain: list[str] = []
    employment_type: Annotated[list[str], _values_of(EmploymentType)] = []
    seniority_level: Annotated[list[str], _values_of(SeniorityLevel)] = []
    location_text: str | None = Field(
        default=None, description="A place that is no city or country, or several with or."
    )
    city: str | None = None
    country: str | None = None
    time_start: str | None = Field(default=None, description="YYYY-MM-DD, the time they were there.")
    time_end: str | None = None
    started_from: str | None = Field(default=None, description="YYYY-MM-DD, when it began.")
    started_until: str | None = None
    ended_from: str | None = Field(default=None, description="YYYY-MM-DD, when it ended.")
    ended_until: str | None = None
    is_current: StrictBool | None = Field(default=None, description="True: there now. False: left.")
    open_to_work_only: StrictBool | None = None
    preferred_locations: list[str] = Field(
        default=[], description='Where they want to work, any of these, or "remote".'
    )
    or_preferred_locations: list[str] = Field(
        default=[], description='The same as an alternative to the place: "remote" in "Chennai or remote".'
    )
    offer_salary_inr_per_year: Number | None = Field(default=None, description="At most; 12 LPA is 1200000.")
    experience_years_min: Number | None = Field(default=None, description="For how long they have worked in all.")
    experience_years_max: Number | None = None
    role: list[str] = Field(
        default=[], description='What they must be, do or know, each; other names for it behind bars: "nurse|rn".'
    )
    name: list[str] = Field(default=[], description="Who is asked for by name.")
    text: list[str] = Field(default=[], description="Words that a card or the profile must hold.")


class Should(Request):
    """Preferences: they raise the rank of people who meet them, and exclude nobody."""

    skills_or_tools: list[str] = []
    keywords: list[str] = []
    intent_secondary: Intents = []
    company_norm: list[str] = []
    team_norm: list[str] = []
    location: list[str] = []


class Exclude(Request):
    """What is never shown, in any tier. An experience of a required role that shows any of it rules a person out; with `ever`,
    any experience does.
    """

    company_norm: list[str] = []
    keywords: list[str] = []
    team_norm: list[str] = []
    location: list[str] = []
    is_current: StrictBool | None = None
    open_to_work: StrictBool | None = None
    time_start: str | None = None
    time_end: str | None = None
    ever: StrictBool | None = Field(default=None, description="True where the query says never.")


class Constraints(Request):
    """How a query was read; `evidence` is of `query_original`."""

    query_original: str = ""
    query_cleaned: str = ""
    must: Must = Must()
    should: Should = Should()
    exclude: Exclude = Exclude()
    like: str | None = Field(default=None, description="The name of a person whom others should resemble.")
    search_phrases: list[str] = []
    query_embedding_text: str = ""
    confidence_score: Number = 0.0
    evidence: list[Evidence] = []


def texts_in(value: Any) -> Iterator[str]:
    """All texts in a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from texts_in(each)


class PeopleSearchRequest(Request):
    """`POST /people/search`. What is given here overrides what the query says. Salaries are INR a year; `salary_max` is what is
    offered, `salary_min` is the recruiter's own note and filters nothing.
    """

    query: QueryText = Field(examples=["backend engineers in Bengaluru who know Kafka"])
    open_to_work_only: StrictBool | None = None
    preferred_locations: list[PlaceName] = Field(default_factory=list, max_length=20)
    salary_min: Rupees | None = None
    salary_max: Rupees | None = None
    understood: Understood | None = Field(
        default=None, description="Used instead of reading the query: that of an answer, as it was or edited."
    )
    constraints: Constraints | None = Field(
        default=None, json_schema_extra=DEPRECATED, description="The former form of `understood`."
    )

    @field_validator("constraints")
    @classmethod
    def _storable(cls, constraints: Constraints | None) -> Constraints | None:
        if constraints is not None:
            for text in texts_in(constraints.model_dump()):
                storable(text)
        return constraints

    @field_validator("salary_max")
    @classmethod
    def _not_below_the_minimum(cls, salary_max: float | None, info: ValidationInfo) -> float | None:
        salary_min = info.data.get("salary_min")
        if salary_min is not None and salary_max is not None and salary_min > salary_max:
            raise ValueError("must not be lower than `salary_min`")
        return salary_max


class ChildCard(LazyModel):
    """One aspect of an experience: an achievement, a project, a tool, …"""

    id: str
    child_type: str
    title: str
    headline: str | None = None
    summary: str | None = None
    context: str | None = None
    tags: list[str] = []


class ExperienceCard(LazyModel):
    """One experience of a person. In a search's answer `children` holds those that matched, elsewhere all of them."""

    id: str
    title: str
    company_name: str | None = None
    team: str | None = None
    intent_primary: str
    intent_secondary: list[str] = []
    domain: str | None = None
    sub_domain: str | None = None
    employment_type: str | None = None
    seniority_level: str | None = None
    location: str | None = None
    city: str | None = None
    country: str | None = None
    start_date: datetime.date | None = None
    end_date: datetime.date | None = None
    is_current: bool | None = None
    summary: str | None = None
    skills: list[str] = []
    children: list[ChildCard] = []


class PersonResult(LazyModel):
    """One person found. `similarity_percent` is the score that people are put in order by, in hundredths and at most 100: no
    probability. The salary is INR a year. `meets` and `misses` are the conditions, in words; what was only preferred is met or
    not told.
    """

    id: str
    name: str | None
    headline: str | None
    bio: str | None
    similarity_percent: int | None
    why_matched: list[str]
    open_to_work: bool
    open_to_contact: bool
    work_preferred_locations: list[str]
    work_preferred_salary_min: float | None
    matched_cards: list[ExperienceCard]
    meets: list[str] = []
    misses: list[str] = []


class Relaxation(LazyModel):
    """A hard constraint, and how many more people there would be without it alone."""

    constraint: str
    label: str
    additional_people: int


class PeopleSearchResponse(LazyModel):
    """The answer to a search, at most five people, best first. `fallback_tier` is a key of FALLBACK_TIERS. Where nobody can be
    shown, nothing is `charged`. `notice` says what the search could not do.
    """

    search_id: str
    people: list[PersonResult]
    understood: Understood | None = None
    constraints: Constraints = Field(json_schema_extra=DEPRECATED, description="The former form of `understood`.")
    fallback_tier: int
    relaxations: list[Relaxation]
    degraded: list[str]
    charged: bool = True
    notice: str | None = None


class UnlockRequest(Request):
    """`POST /people/{id}/unlock-contact`."""

    search_id: Identifier


class Contact(LazyModel):
    """How to reach a person."""

    email: str | None = None
    phone: str | None = None
    links: list[str] = []


class UnlockResponse(LazyModel):
    """`charged` is true for the first unlock only."""

    unlocked: Literal[True] = True
    charged: bool
    balance: int
    contact: Contact


class CreditBalance(LazyModel):
    """`GET /credits`."""

    balance: int


class DiscoverRequest(Request):
    """`GET /people`."""

    limit: int = Field(default=20, ge=1, le=DISCOVER_LIMIT_MAX)
    cursor: Annotated[str, StringConstraints(min_length=1, max_length=400), Storable] | None = None


class DiscoveredPerson(LazyModel):
    """A person with at least one visible card; `summaries` are those of the latest cards."""

    id: str
    name: str | None
    city: str | None
    summaries: list[str]


class DiscoverResponse(LazyModel):
    """A page of people. Without `next_cursor` it is the last one."""

    people: list[DiscoveredPerson]
    next_cursor: str | None


class PublicProfile(LazyModel):
    """`GET /people/{id}/profile`: what everyone may see."""

    id: str
    name: str | None
    headline: str | None
    bio: str | None
    city: str | None
    country: str | None
    open_to_work: bool
    open_to_contact: bool
    work_preferred_locations: list[str]
    work_preferred_salary_min: float | None
    cards: list[ExperienceCard]


class GatedProfile(PublicProfile):
    """`GET /people/{id}?search_id=`: the profile within a search of the caller's. `contact` is there once it was unlocked."""

    search_id: str
    why_matched: list[str]
    contact_unlocked: bool
    contact: Contact | None


def as_list(value: Any) -> list[Any]:
    """The values of a field that may hold one, several or none."""
    if isinstance(value, list):
        return [each for each in value if each is not None]
    return [] if value is None else [value]


def _mended(part: type[BaseModel]) -> BeforeValidator:
    """A part of the constraints as a model may give it."""
    lists = {name for name, field in part.model_fields.items() if field.get_default() == []}

    def mend(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        for text in texts_in(value):
            storable(text)
        fields = {
            name: part_value
            for name, part_value in value.items()
            if name in part.model_fields and part_value is not None
        }
        return {name: as_list(item) if name in lists else item for name, item in fields.items()}

    return BeforeValidator(mend)


Texts = Annotated[list[CleanText], BeforeValidator(as_list)]


class Quote(LazyModel):
    """The words of the query that say the value of a key."""

    key: CleanText = Field(description='Such as "must.city".')
    words: CleanText


class PeopleQuery(LazyModel):
    """A query for people as constraints."""

    TOKENS_MAX: ClassVar[int] = 1_500

    must: Annotated[Must, _mended(Must)]
    should: Annotated[Should, _mended(Should)]
    exclude: Annotated[Exclude, _mended(Exclude)]
    like: CleanText | None = Field(default=None, description="The person whom others should be like, by name.")
    query_embedding_text: Annotated[CleanText, BeforeValidator(lambda value: "" if value is None else value)] = ""
    confidence_score: float | None = Field(default=0.0, ge=0, le=1)
    quotes: Annotated[list[Quote], BeforeValidator(as_list)] = Field(
        default=[], description="For each key with a value."
    )


PEOPLE_JUDGED_MAX = 50


class PersonReasons(LazyModel):
    """Whether one person fits, and why they were found or what they lack."""

    person_id: CleanText
    fits: bool = True
    why_matched: Texts = Field(default=[], json_schema_extra={"maxItems": 3})
    lacks: Annotated[CleanText, BeforeValidator(lambda value: "" if value is None else value)] = ""


class PeopleReasons(LazyModel):
    """The people found, best first, each by the id that was given."""

    TOKENS_MAX: ClassVar[int] = 4_000

    people: list[PersonReasons] = Field(json_schema_extra={"maxItems": PEOPLE_JUDGED_MAX})
