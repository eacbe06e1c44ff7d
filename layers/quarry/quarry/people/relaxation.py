"""Which constraints a search insists on, and what is left of them in each tier. What is excluded is excluded in all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from quarry.people.filters import CardFilters, HardConstraint

HARD_CONSTRAINTS: dict[HardConstraint, tuple[str, ...]] = {
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

RELAXED_FROM: dict[HardConstraint, int] = {
    "time": FALLBACK_TIER_TIME_SOFT,
    "location": FALLBACK_TIER_LOCATION_SOFT,
    "company_norm": FALLBACK_TIER_COMPANY_TEAM_SOFT,
    "school_norm": FALLBACK_TIER_COMPANY_TEAM_SOFT,
    "team_norm": FALLBACK_TIER_COMPANY_TEAM_SOFT,
}
"""The tier from which on a constraint no longer filters. The others filter in every tier."""

_NOTHING = CardFilters()


def constraints_in_force(filters: CardFilters) -> list[HardConstraint]:
    """The names of the hard constraints that `filters` holds, in the order of HARD_CONSTRAINTS."""
    return [
        name
        for name, fields in HARD_CONSTRAINTS.items()
        if any(getattr(filters, field) != getattr(_NOTHING, field) for field in fields)
    ]


def without(filters: CardFilters, constraints: Iterable[HardConstraint]) -> CardFilters:
    """`filters` with these constraints dropped."""
    fields = [field for name in constraints for field in HARD_CONSTRAINTS[name]]
    return replace(filters, **{field: getattr(_NOTHING, field) for field in fields})


def relaxed(filters: CardFilters, tier: int) -> CardFilters:
    """What still filters in a tier: all in tier 0; then time, location, and company and team are dropped, one tier after the
    other.
    """
    return without(filters, [name for name, since in RELAXED_FROM.items() if since <= tier])
