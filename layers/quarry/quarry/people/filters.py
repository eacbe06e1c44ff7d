"""What retrieval filters by: the normalised constraints and the request's own, as values that SQL can compare."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Literal

HardConstraint = Literal[
    "company_norm", "team_norm", "intent_primary", "domain", "sub_domain", "employment_type", "seniority_level",
    "location", "time", "is_current", "open_to_work_only", "preferred_locations", "offer_salary_inr_per_year",
]  # fmt: skip
"""What can be dropped by itself, by its name in `constraints.must` or in the request. `location` is the place with all its
parts, `time` both ends of the period."""


@dataclass(frozen=True)
class CardFilters:
    """Filters on a person's cards and profile. An empty tuple, None or False filters nothing.

    Names are lower case and trimmed. Within one field any value suffices; all fields must hold. The salary is INR a year.
    """

    companies: tuple[str, ...] = ()
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
    is_current: bool | None = None
    open_to_work_only: bool = False
    preferred_locations: tuple[str, ...] = ()
    """Each in all its spellings."""
    offer_salary: float | None = None
    excluded_companies: tuple[str, ...] = ()
    excluded_keywords: tuple[str, ...] = ()
    should_terms: tuple[str, ...] = ()
    """Skills, keywords and secondary intents, each worth SHOULD_BOOST where a card holds it."""

    @property
    def has_time(self) -> bool:
        return self.time_start is not None or self.time_end is not None

    @property
    def has_location(self) -> bool:
        return bool(self.places or self.countries)

    @property
    def excludes_anyone(self) -> bool:
        return bool(self.excluded_companies or self.excluded_keywords)
