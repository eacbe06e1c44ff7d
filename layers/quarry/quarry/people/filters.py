"""The filters of retrieval, made from the constraints: values for SQL, and what each tier drops.

Exclusions hold in every tier.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from quarry.language.word_forms import unique
from quarry.people.contract import Constraints, PeopleSearchRequest
from quarry.spans.places import country_of, each_spelling, known_place, places_in, spellings

HardConstraint = str
"""The name of a constraint that can be dropped, as in `constraints.must` or the request."""

HARD_CONSTRAINTS: Mapping[HardConstraint, tuple[str, ...]] = {
    "company_norm": ("companies",),
    "school_norm": ("schools",),
    "team_norm": ("teams",),
    "intent_primary": ("intents",),
    "domain": ("domains",),
    "sub_domain": ("sub_domains",),
    "employment_type": ("employment_types",),
    "seniority_level": ("seniority_levels",),
    "location": ("places", "countries", "or_preferred_locations"),
    "time": ("time_start", "time_end", "started_from", "started_until", "ended_from", "ended_until"),
    "is_current": ("is_current",),
    "open_to_work_only": ("open_to_work_only",),
    "preferred_locations": ("preferred_locations",),
    "offer_salary_inr_per_year": ("offer_salary",),
    "experience_years": ("experience_least", "experience_most"),
}
"""Every constraint that can be dropped, with its fields of CardFilters."""

FALLBACK_TIER_STRICT = 0
FALLBACK_TIER_TIME_SOFT = 1
FALLBACK_TIER_LOCATION_SOFT = 2
FALLBACK_TIER_COMPANY_TEAM_SOFT = 3

OF_THE_PERSON: frozenset[HardConstraint] = frozenset(
    {"open_to_work_only", "preferred_locations", "offer_salary_inr_per_year", "experience_years"}
)
"""Constraints on the person; the others are on an experience."""

RELAXED_FROM: Mapping[HardConstraint, int] = {
    "time": FALLBACK_TIER_TIME_SOFT,
    "location": FALLBACK_TIER_LOCATION_SOFT,
    "company_norm": FALLBACK_TIER_COMPANY_TEAM_SOFT,
    "school_norm": FALLBACK_TIER_COMPANY_TEAM_SOFT,
    "team_norm": FALLBACK_TIER_COMPANY_TEAM_SOFT,
}
"""The first tier without a constraint. The others filter in every tier."""

DAYS_A_YEAR = 365

_LISTS = {
    "companies": "company_norm", "schools": "school_norm", "teams": "team_norm", "intents": "intent_primary",
    "domains": "domain", "sub_domains": "sub_domain", "employment_types": "employment_type",
    "seniority_levels": "seniority_level", "names": "name", "texts": "text",
}  # fmt: skip
"""The filters that are lists in the constraints."""


@dataclass(frozen=True)
class CardFilters:
    """Filters on a person's cards and profile. An empty tuple, None or False filters nothing.

    Names are lower case and trimmed. Within one field any value suffices; all fields must hold. The salary is INR a year.
    """

    companies: tuple[str, ...] = ()
    schools: tuple[str, ...] = ()
    """Like `companies`, for an experience in education, if the query names both."""
    teams: tuple[str, ...] = ()
    intents: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    sub_domains: tuple[str, ...] = ()
    employment_types: tuple[str, ...] = ()
    seniority_levels: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    """The spellings of the place ("bengaluru", "bangalore"), or the cities of a region. A card matches if its city, country or
    location contains one of them."""
    countries: tuple[str, ...] = ()
    """The spellings of a country named with a place: "Hyderabad, Pakistan". A card must match both."""
    time_start: datetime.date | None = None
    time_end: datetime.date | None = None
    started_from: datetime.date | None = None
    started_until: datetime.date | None = None
    ended_from: datetime.date | None = None
    ended_until: datetime.date | None = None
    is_current: bool | None = None
    open_to_work_only: bool | None = None
    """False: only people who are not."""
    preferred_locations: tuple[str, ...] = ()
    """Each place in all its spellings."""
    or_preferred_locations: tuple[str, ...] = ()
    """Preferred locations as an alternative to the place: "Chennai or remote"."""
    offer_salary: float | None = None
    experience_least: int | None = None
    experience_most: int | None = None
    """Days of experience in all, until today."""
    excluded_companies: tuple[str, ...] = ()
    excluded_keywords: tuple[str, ...] = ()
    excluded_teams: tuple[str, ...] = ()
    excluded_places: tuple[str, ...] = ()
    excluded_current: bool | None = None
    excluded_time_start: datetime.date | None = None
    excluded_time_end: datetime.date | None = None
    excluded_ever: bool = False
    """Any experience may exclude its person, not only one that is asked for; their headline and name too."""
    roles: tuple[str, ...] = ()
    """What an experience must show, each by any of its names, separated by bars."""
    names: tuple[str, ...] = ()
    """The people asked for by name."""
    texts: tuple[str, ...] = ()
    """Words that a card, a child or the profile must contain, each of them."""
    should_terms: tuple[str, ...] = ()
    """Skills, keywords and secondary intents; each that a card contains adds SHOULD_BOOST."""

    @property
    def has_time(self) -> bool:
        return any(getattr(self, bound) is not None for bound in HARD_CONSTRAINTS["time"])

    @property
    def has_location(self) -> bool:
        return bool(self.places or self.countries or self.or_preferred_locations)

    @property
    def excludes_anyone(self) -> bool:
        named = (self.excluded_companies, self.excluded_keywords, self.excluded_teams, self.excluded_places)
        others = (self.excluded_current, self.excluded_time_start, self.excluded_time_end)
        return any(named) or any(other is not None for other in others)

    @property
    def unexcluded(self) -> CardFilters:
        """The same without exclusions."""
        fields = [name for name in vars(self) if name.startswith("excluded_")]
        return replace(self, **{name: getattr(_NOTHING, name) for name in fields})

    @property
    def excluding(self) -> CardFilters:
        """What an excluded experience must meet to exclude its person: a required role, else the other conditions on it."""
        if self.excluded_ever:
            return CardFilters()
        if self.roles:
            return CardFilters(roles=("|".join(self.roles),))
        on_cards = [name for name in HARD_CONSTRAINTS if name not in OF_THE_PERSON]
        conditions = {field: getattr(self, field) for name in on_cards for field in HARD_CONSTRAINTS[name]}
        if self.or_preferred_locations:  # the place is only an alternative
            conditions |= dict.fromkeys(HARD_CONSTRAINTS["location"], ())
        return CardFilters(**conditions)


_NOTHING = CardFilters()


def constraints_in_force(filters: CardFilters) -> list[HardConstraint]:
    """The names of the hard constraints that are set, in the order of HARD_CONSTRAINTS."""
    return [
        name
        for name, fields in HARD_CONSTRAINTS.items()
        if any(getattr(filters, field) != getattr(_NOTHING, field) for field in fields)
    ]


def set_fields(filters: CardFilters) -> dict[str, Any]:
    """The fields that are set, by name."""
    return {name: value for name, value in vars(filters).items() if value != getattr(_NOTHING, name)}


def only(filters: CardFilters, name: HardConstraint) -> CardFilters:
    """The filters of one constraint alone."""
    return CardFilters(**{field: getattr(filters, field) for field in HARD_CONSTRAINTS[name]})


def without(filters: CardFilters, constraints: Iterable[HardConstraint]) -> CardFilters:
    """The filters without these constraints."""
    fields = [field for name in constraints for field in HARD_CONSTRAINTS[name]]
    return replace(filters, **{field: getattr(_NOTHING, field) for field in fields})


def relaxed(filters: CardFilters, tier: int) -> CardFilters:
    """The filters of a tier: all in tier 0; then without time, location, and company and team, one after the other."""
    return without(filters, [name for name, since in RELAXED_FROM.items() if since <= tier])


def with_request(constraints: Constraints, request: PeopleSearchRequest) -> Constraints:
    """The constraints with what the request itself says, which wins over the query: `open_to_work_only`, `salary_max` and
    `preferred_locations`; its `salary_min` filters nothing.
    """
    fields = {
        "open_to_work_only": request.open_to_work_only,
        "offer_salary_inr_per_year": request.salary_max,
        "preferred_locations": [place.lower() for place in request.preferred_locations] or None,
    }
    must = constraints.must.model_copy(update={name: each for name, each in fields.items() if each is not None})
    return constraints.model_copy(update={"must": must})


def card_filters(constraints: Constraints) -> CardFilters:
    """The filters of a search."""
    must, should, exclude = constraints.must, constraints.should, constraints.exclude
    places, countries = _location(constraints)
    if places:
        # an experience may itself be remote
        places = unique((*places, *(name for name in must.or_preferred_locations if known_place(name) is None)))
    as_they_are: dict[str, Any] = {field: tuple(getattr(must, name)) for field, name in _LISTS.items()}
    as_they_are |= {name: day_of(getattr(must, name)) for name in HARD_CONSTRAINTS["time"]}
    role_names = (name for role in must.role for name in role.split("|"))
    return CardFilters(
        **as_they_are,
        places=places,
        countries=countries,
        is_current=must.is_current,
        open_to_work_only=True if must.open_to_work_only else False if exclude.open_to_work else None,
        preferred_locations=each_spelling(must.preferred_locations),
        or_preferred_locations=each_spelling(must.or_preferred_locations),
        offer_salary=must.offer_salary_inr_per_year,
        experience_least=_days(must.experience_years_min),
        experience_most=_days(must.experience_years_max),
        roles=tuple(must.role),
        excluded_companies=tuple(exclude.company_norm),
        excluded_keywords=each_spelling(exclude.keywords),
        excluded_teams=tuple(exclude.team_norm),
        excluded_places=each_spelling(exclude.location),
        excluded_current=exclude.is_current,
        excluded_time_start=day_of(exclude.time_start),
        excluded_time_end=day_of(exclude.time_end),
        excluded_ever=bool(exclude.ever),
        should_terms=unique(
            (
                *should.skills_or_tools, *should.keywords, *role_names,
                *(intent.replace("_", " ") for intent in should.intent_secondary),
                *should.company_norm, *should.team_norm, *should.location,
            )
        ),
    )  # fmt: skip


def _location(constraints: Constraints) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The places, any of which suffices, and the country that they must be in.

    The most precise place counts: the city, else the free text, else the country. A country that a city implies (Pune is in
    India) is not required, so that cards that do not name it match.
    """
    must = constraints.must
    if must.city:
        names_country = must.country and must.country != country_of(must.city)
        state = known_place(must.location_text.rpartition(", ")[2], "region") if must.location_text else None
        if state is not None and not must.country:
            return spellings(must.city), spellings(state.name)
        return spellings(must.city), spellings(must.country) if names_country and must.country else ()
    if must.location_text and must.location_text != must.country:
        return places_in(must.location_text), spellings(must.country) if must.country else ()
    return (spellings(must.country), ()) if must.country else ((), ())


def _days(years: float | None) -> int | None:
    return None if years is None else round(years * DAYS_A_YEAR)


def day_of(text: str | None) -> datetime.date | None:
    return datetime.date.fromisoformat(text) if text else None
