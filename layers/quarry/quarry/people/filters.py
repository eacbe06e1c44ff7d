"""What retrieval filters by, as values that SQL can compare, and what is left of it in each tier; exclusions stay."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

HardConstraint = str
"""What can be dropped by itself, by its name in `constraints.must` or in the request."""

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
"""Every constraint that can be dropped, with the fields of CardFilters that say it."""

FALLBACK_TIER_STRICT = 0
FALLBACK_TIER_TIME_SOFT = 1
FALLBACK_TIER_LOCATION_SOFT = 2
FALLBACK_TIER_COMPANY_TEAM_SOFT = 3

RELAXED_FROM: Mapping[HardConstraint, int] = {
    "time": FALLBACK_TIER_TIME_SOFT,
    "location": FALLBACK_TIER_LOCATION_SOFT,
    "company_norm": FALLBACK_TIER_COMPANY_TEAM_SOFT,
    "school_norm": FALLBACK_TIER_COMPANY_TEAM_SOFT,
    "team_norm": FALLBACK_TIER_COMPANY_TEAM_SOFT,
}
"""The tier from which on a constraint no longer filters. The others filter in every tier."""


@dataclass(frozen=True)
class CardFilters:
    """Filters on a person's cards and profile. An empty tuple, None or False filters nothing.

    Names are lower case and trimmed. Within one field any value suffices; all fields must hold. The salary is INR a year.
    """

    companies: tuple[str, ...] = ()
    schools: tuple[str, ...] = ()
    """As companies are, of an experience that is education: where the query names both."""
    teams: tuple[str, ...] = ()
    intents: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    sub_domains: tuple[str, ...] = ()
    employment_types: tuple[str, ...] = ()
    seniority_levels: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    """The spellings of the place asked for ("bengaluru", "bangalore"), or the cities of a region: a card is there if its city,
    its country or its location text holds one of them."""
    countries: tuple[str, ...] = ()
    """The spellings of the country, where the query names it beside a place: "Hyderabad, Pakistan". The card must be in both."""
    time_start: datetime.date | None = None
    time_end: datetime.date | None = None
    started_from: datetime.date | None = None
    started_until: datetime.date | None = None
    ended_from: datetime.date | None = None
    ended_until: datetime.date | None = None
    is_current: bool | None = None
    open_to_work_only: bool | None = None
    """False: only who is not."""
    preferred_locations: tuple[str, ...] = ()
    """Each in all its spellings."""
    or_preferred_locations: tuple[str, ...] = ()
    """As `preferred_locations`, but an alternative to the place: "Chennai or remote"."""
    offer_salary: float | None = None
    experience_least: int | None = None
    experience_most: int | None = None
    """For how many days somebody has worked in all, until today."""
    excluded_companies: tuple[str, ...] = ()
    excluded_keywords: tuple[str, ...] = ()
    excluded_teams: tuple[str, ...] = ()
    excluded_places: tuple[str, ...] = ()
    excluded_current: bool | None = None
    excluded_time_start: datetime.date | None = None
    excluded_time_end: datetime.date | None = None
    roles: tuple[str, ...] = ()
    """What somebody must be or do by an experience: each of them, by any of its names, between which stands a bar."""
    names: tuple[str, ...] = ()
    """Who is asked for by name."""
    texts: tuple[str, ...] = ()
    """Words that a card, a child of one or the profile must hold, each of them."""
    should_terms: tuple[str, ...] = ()
    """Skills, keywords and secondary intents, each worth SHOULD_BOOST where a card holds it."""

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
    def expects_more(self) -> bool:
        """Whether more is asked for than the hard constraints: what people are, or words that they must hold."""
        return bool(self.roles or self.texts)


_NOTHING = CardFilters()


def constraints_in_force(filters: CardFilters) -> list[HardConstraint]:
    """The names of the hard constraints that `filters` holds, in the order of HARD_CONSTRAINTS."""
    return [
        name
        for name, fields in HARD_CONSTRAINTS.items()
        if any(getattr(filters, field) != getattr(_NOTHING, field) for field in fields)
    ]


def only(filters: CardFilters, name: HardConstraint) -> CardFilters:
    """One constraint of `filters` by itself."""
    return CardFilters(**{field: getattr(filters, field) for field in HARD_CONSTRAINTS[name]})


def without(filters: CardFilters, constraints: Iterable[HardConstraint]) -> CardFilters:
    """`filters` with these constraints dropped."""
    fields = [field for name in constraints for field in HARD_CONSTRAINTS[name]]
    return replace(filters, **{field: getattr(_NOTHING, field) for field in fields})


def relaxed(filters: CardFilters, tier: int) -> CardFilters:
    """What still filters in a tier: all in tier 0; then time, location, and company and team are dropped, one after the other."""
    return without(filters, [name for name, since in RELAXED_FROM.items() if since <= tier])
