"""What retrieval filters by: the normalised constraints and the request's own, as values that SQL can compare."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Literal

HardConstraint = Literal[
    "company_norm", "school_norm", "team_norm", "intent_primary", "domain", "sub_domain", "employment_type", "seniority_level",
    "location", "time", "is_current", "open_to_work_only", "preferred_locations", "offer_salary_inr_per_year",
    "experience_years",
]  # fmt: skip
"""What can be dropped by itself, by its name in `constraints.must` or in the request. `location` is the place with all its
parts, `time` both ends of every period."""


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
        bounds = (
            self.time_start,
            self.time_end,
            self.started_from,
            self.started_until,
            self.ended_from,
            self.ended_until,
        )
        return any(bound is not None for bound in bounds)

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
