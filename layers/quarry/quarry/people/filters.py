"""What retrieval filters by: the normalised constraints and the request's own, as values that SQL can compare."""

from __future__ import annotations

import datetime
from dataclasses import dataclass


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
    location_text: str | None = None
    city: str | None = None
    country: str | None = None
    time_start: datetime.date | None = None
    time_end: datetime.date | None = None
    is_current: bool | None = None
    open_to_work_only: bool = False
    preferred_locations: tuple[str, ...] = ()
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
        return any((self.location_text, self.city, self.country))

    @property
    def has_company_or_team(self) -> bool:
        return bool(self.companies or self.teams)
