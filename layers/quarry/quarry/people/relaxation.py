"""Which constraints a search insists on, and what is left of them in each tier. What is excluded is excluded in all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from quarry.people.filters import CardFilters

HARD_CONSTRAINTS: dict[str, tuple[str, ...]] = {
    "company": ("companies",),
    "team": ("teams",),
    "intent": ("intents",),
    "domain": ("domains",),
    "sub_domain": ("sub_domains",),
    "employment_type": ("employment_types",),
    "seniority_level": ("seniority_levels",),
    "location": ("location_text", "city", "country"),
    "time": ("time_start", "time_end"),
    "is_current": ("is_current",),
    "open_to_work": ("open_to_work_only",),
    "preferred_locations": ("preferred_locations",),
    "salary": ("offer_salary",),
}
"""Every constraint that can be dropped, with the fields of CardFilters that say it."""

FALLBACK_TIER_STRICT = 0
FALLBACK_TIER_TIME_SOFT = 1
FALLBACK_TIER_LOCATION_SOFT = 2
FALLBACK_TIER_COMPANY_TEAM_SOFT = 3

RELAXED_FROM: dict[str, int] = {
    "time": FALLBACK_TIER_TIME_SOFT,
    "location": FALLBACK_TIER_LOCATION_SOFT,
    "company": FALLBACK_TIER_COMPANY_TEAM_SOFT,
    "team": FALLBACK_TIER_COMPANY_TEAM_SOFT,
}
"""The tier from which on a constraint no longer filters. The others filter in every tier."""

_NOTHING = CardFilters()


def constraints_in_force(filters: CardFilters) -> list[str]:
    """The names of the hard constraints that `filters` holds, in the order of HARD_CONSTRAINTS."""
    return [
        name
        for name, fields in HARD_CONSTRAINTS.items()
        if any(getattr(filters, field) != getattr(_NOTHING, field) for field in fields)
    ]


def without(filters: CardFilters, constraints: Iterable[str]) -> CardFilters:
    """`filters` with these constraints dropped."""
    fields = [field for name in constraints for field in HARD_CONSTRAINTS[name]]
    return replace(filters, **{field: getattr(_NOTHING, field) for field in fields})


def relaxed(filters: CardFilters, tier: int) -> CardFilters:
    """What still filters in a tier: all in tier 0; then time, location, and company and team are dropped, one tier after the
    other.
    """
    return without(filters, [name for name, since in RELAXED_FROM.items() if since <= tier])
