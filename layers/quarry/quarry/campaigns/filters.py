"""Filters as the page and the tools give them, as conditions on values that exist; and conditions, as the page shows filters."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from quarry.campaigns.contract import CampaignFilters, DateRange, ExcludedValues
from quarry.campaigns.facets import CAMPAIGNS, RECENT_DAYS
from quarry.campaigns.results import KnownValues
from quarry.query import algebra
from quarry.query.values import DAY, interval_of
from quarry.retrieval.named_values import EXPLAINED_VALUES, NamedValue, UnknownValue, nearest
from quarry.spans import mention
from quarry.spans.question import Clause, Condition

VALUE_FILTERS = tuple(ExcludedValues.model_fields)
"""Filters whose values are those of a facet of the same name."""


@dataclass(frozen=True)
class Resolved:
    """Filters as conditions, and what of them does not exist. `is_impossible`: a filter names nothing that exists, so that no
    campaign meets it.
    """

    clauses: tuple[Clause, ...] = ()
    unknown: tuple[UnknownValue, ...] = ()
    is_impossible: bool = False


def named_values(
    filters: CampaignFilters, exclude: ExcludedValues | None = None, pointer: str = ""
) -> list[NamedValue]:
    """The values that filters name, and those that none may have, each at a pointer below this one."""
    given = [(filters, pointer), *([(exclude, f"{pointer}/exclude")] if exclude else [])]
    return [
        NamedValue((name,), value, f"{at}/{name}", is_negated=of is exclude)
        for of, at in given
        for name in VALUE_FILTERS
        for value in getattr(of, name)
    ]


def resolve(
    filters: CampaignFilters, named: Sequence[NamedValue], existing: Sequence[Sequence[str]], known: KnownValues
) -> Resolved:
    """Filters as conditions. `existing` are the values of the data that each of the `named_values` means."""
    unknown = [each for each, values in zip(named, existing, strict=True) if not values]
    met = {each.facets for each, values in zip(named, existing, strict=True) if values and not each.is_negated}
    return Resolved(
        (*_value_clauses(named, existing), *_other_clauses(filters, known.latest)),
        tuple(_explained(unknown, known)),
        any(not each.is_negated and each.facets not in met for each in unknown),
    )


def _value_clauses(named: Sequence[NamedValue], existing: Sequence[Sequence[str]]) -> list[Clause]:
    """One condition for each filter, of whose values any suffices, or none may be had: those that exist, where any does."""
    values: dict[tuple[str, bool], tuple[list[str], list[str]]] = {}
    for each, found in zip(named, existing, strict=True):
        given, known = values.setdefault((each.facets[0], each.is_negated), ([], []))
        given.append(each.value)
        known.extend(found)
    return [
        (Condition(facet, tuple(dict.fromkeys(known or given)), is_negated=is_negated),)
        for (facet, is_negated), (given, known) in values.items()
        if known or not is_negated
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
        UnknownValue.of(
            CAMPAIGNS,
            each.facets[0],
            each.value,
            nearest(each.value, known.by_filter.get(each.facets[0], ())) if place < EXPLAINED_VALUES else (),
        )
        for place, each in enumerate(unknown)
    ]


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


def clauses_of(conditions: Iterable[algebra.Condition], today: datetime.date) -> list[Clause]:
    """What of the conditions of a query clauses can say."""
    said = (
        tuple(_facet_condition(each, today) for each in parts)
        for condition in conditions
        for parts in [condition.any_of if isinstance(condition, algebra.AnyOf) else (condition,)]
    )
    return [tuple(filter(None, clause)) for clause in said if all(clause)]


def _facet_condition(condition: algebra.Condition, today: datetime.date) -> Condition | None:
    match condition:
        case algebra.Not():
            denied = _facet_condition(condition.negated, today)
            return denied and replace(denied, is_negated=not denied.is_negated)
        case algebra.Words():
            return Condition("copy", (condition.words,))
        case algebra.Comparison() if condition.field in CAMPAIGNS.by_name and condition.query is None:
            return _compared(condition, today)
    return None


def _compared(condition: algebra.Comparison, today: datetime.date) -> Condition | None:
    facet, values = condition.field, condition.scalars
    if condition.op in ("is_null", "not_null"):
        return Condition(facet, is_negated=condition.op == "is_null")
    if facet != CAMPAIGNS.date:
        is_said = bool(values) and condition.op in ("=", "!=", "contains")
        return Condition(facet, tuple(map(str, values)), is_negated=condition.op == "!=") if is_said else None
    if not values or len(values) != (2 if condition.op == "between" else 1):
        return None
    days = [interval_of(value, "date", today, "") for value in values]
    first, last = days[0].first, days[-1].last
    ends = {"<": (None, first - DAY), "<=": (None, last), ">": (last + DAY, None), ">=": (first, None)}
    span = mention.DateRange(*ends.get(condition.op, (first, last)))
    return Condition(facet, range=span, is_negated=condition.op == "!=")


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
