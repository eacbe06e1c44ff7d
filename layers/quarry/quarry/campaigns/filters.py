"""Filters as the page and the tools give them, as conditions on values that exist; and conditions, as the page shows filters."""

from __future__ import annotations

import datetime
import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from quarry.campaigns.contract import CampaignFilters, DateRange, ExcludedValues
from quarry.campaigns.facets import RECENT_DAYS
from quarry.campaigns.results import KnownValues
from quarry.core.query import mention
from quarry.core.query.question import Clause, Condition

NEAREST_VALUES = 3
NEAREST_CUTOFF = 0.4
NEAREST_CHARACTERS = 60
"""So many letters of a value are compared with one that does not exist,"""
EXPLAINED_VALUES = 5
"""for the first so many that do not exist."""

VALUE_FILTERS = tuple(ExcludedValues.model_fields)
"""Filters whose values are those of a facet of the same name."""

_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class UnknownValue:
    """A value that no campaign has, and those that come nearest to it."""

    filter: str
    value: str
    nearest: tuple[str, ...]

    def __str__(self) -> str:
        offered = f"; did you mean {' or '.join(repr(value) for value in self.nearest)}?" if self.nearest else "."
        return f"No campaign has the {self.filter.replace('_', ' ')} {self.value!r}{offered}"


@dataclass(frozen=True)
class NamedValue:
    """A value of a facet as somebody wrote it."""

    facet: str
    value: str
    is_negated: bool = False


@dataclass(frozen=True)
class Resolved:
    """Filters as conditions, and what of them does not exist; nothing meets a condition on that."""

    clauses: tuple[Clause, ...] = ()
    unknown: tuple[UnknownValue, ...] = ()


def named_values(filters: CampaignFilters, exclude: ExcludedValues | None = None) -> list[NamedValue]:
    """The values that filters name."""
    named = [NamedValue(name, value) for name in VALUE_FILTERS for value in getattr(filters, name)]
    if exclude is None:
        return named
    return named + [NamedValue(name, value, True) for name in VALUE_FILTERS for value in getattr(exclude, name)]


def resolve(
    filters: CampaignFilters, named: Sequence[NamedValue], existing: Sequence[Sequence[str]], known: KnownValues
) -> Resolved:
    """Filters as conditions. `existing` are the values of the data that each of the `named_values` means."""
    unknown = [each for each, values in zip(named, existing, strict=True) if not values]
    return Resolved(
        (*_value_clauses(named, existing), *_other_clauses(filters, known.latest)), tuple(_explained(unknown, known))
    )


def _value_clauses(named: Sequence[NamedValue], existing: Sequence[Sequence[str]]) -> list[Clause]:
    """One condition for each filter, of whose values any suffices, or none may be had."""
    values: dict[tuple[str, bool], list[str]] = {}
    for each, found in zip(named, existing, strict=True):
        values.setdefault((each.facet, each.is_negated), []).extend(found or [each.value])
    return [
        (Condition(facet, tuple(dict.fromkeys(of)), is_negated=is_negated),)
        for (facet, is_negated), of in values.items()
    ]


def _other_clauses(filters: CampaignFilters, latest: datetime.date | None) -> list[Clause]:
    clauses: list[Clause] = []
    if filters.offer:
        clauses.append((Condition("offer", (filters.offer,)),))
    if filters.has_offer is not None:
        clauses.append((Condition("offer", is_negated=not filters.has_offer),))
    days = date_range(filters.date_range, latest)
    if days.from_date or days.to_date:
        clauses.append((Condition("capture_date", range=mention.DateRange(days.from_date, days.to_date)),))
    return clauses


def _explained(unknown: Sequence[NamedValue], known: KnownValues) -> list[UnknownValue]:
    return [
        UnknownValue(
            each.facet,
            each.value,
            nearest(each.value, known.by_filter.get(each.facet, ())) if place < EXPLAINED_VALUES else (),
        )
        for place, each in enumerate(unknown)
    ]


def nearest(value: str, existing: Sequence[str], cutoff: float = NEAREST_CUTOFF) -> tuple[str, ...]:
    """The known values that are spelt most like `value`; a likeness of 1 is the same."""
    by_plain = {plain(each)[:NEAREST_CHARACTERS]: each for each in existing}
    wanted = plain(value)[:NEAREST_CHARACTERS]
    close = difflib.get_close_matches(wanted, by_plain, n=NEAREST_VALUES, cutoff=cutoff)
    return tuple(by_plain[each] for each in close)


def plain(text: str) -> str:
    """Lower-case words and figures, one space between them."""
    return _NOT_ALPHANUMERIC.sub(" ", text.casefold()).strip()


def date_range(asked: DateRange | str | None, latest: datetime.date | None) -> DateRange:
    """A range as days; "recent" counts back from the latest capture."""
    if isinstance(asked, DateRange):
        return asked
    if asked is None or latest is None:
        return DateRange()
    return DateRange.between(latest - datetime.timedelta(days=RECENT_DAYS), latest)


def filters_of(clauses: Iterable[Clause], latest: datetime.date | None) -> CampaignFilters:
    """What of the conditions a filter of the page can say: values that are had, an offer or none, days; of several conditions on
    one field, the first.
    """
    given: dict[str, object] = {}
    for clause in clauses:
        if len(clause) == 1:
            given = _filter_of(clause[0], latest) | given
    return CampaignFilters.model_validate(given)


def _filter_of(condition: Condition, latest: datetime.date | None) -> dict[str, object]:
    if condition.facet == "offer" and not condition.values:
        return {"has_offer": not condition.is_negated}
    if condition.is_negated:
        return {}
    if condition.facet in VALUE_FILTERS and condition.values:
        return {condition.facet: list(condition.values)}
    if condition.facet == "offer":
        return {"offer": condition.values[0]}
    days = condition.range
    if not isinstance(days, mention.DateRange) or days.months:
        return {}
    asked = DateRange.between(days.first, days.last)
    return {"date_range": "recent" if asked == date_range("recent", latest) else asked}
