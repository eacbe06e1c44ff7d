"""Conditions on campaigns: those of filters, on the wire, and in words. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from quarry.campaigns.contract import (
    AGGREGATED,
    FILTER_VALUES,
    Aggregation,
    Campaign,
    CampaignFilters,
    DateRange,
    ExcludedValues,
)
from quarry.campaigns.facets import CAMPAIGNS
from quarry.campaigns.sources import PREDICATES, SOURCES
from quarry.platform.contract import Evidence
from quarry.query.contract import QueryResult, Verdict
from quarry.query.describe import affirmed
from quarry.query.phrases import Phrases
from quarry.query.values import DAY, interval_of
from quarry.schema.algebra import Comparison, Condition, Not, Query, comparisons_of
from quarry.schema.source import EXPLAINED_VALUES, NamedValue, Schema, UnknownValue, nearest

Counts = Mapping[str, int]

COUNTED = (*FILTER_VALUES, "offer")
"""The fields whose values are counted for each set."""

AGGREGATED_VALUES_MAX = 1_000
"""A set with more different values of a field has no aggregation."""


@dataclass(frozen=True)
class CampaignSet:
    """The result of a search: the first campaigns, and counts over all of them.

    With `more`, `total` is a lower bound. `is_counted` is false if there are too many campaigns to count the values of fields.
    """

    total: int
    campaigns: tuple[Campaign, ...]
    counts: Mapping[str, Counts] = field(default_factory=dict)
    """By field of COUNTED: campaigns for each value, most first. Fields in AGGREGATED have all values, up to
    AGGREGATED_VALUES_MAX; the others only the first ones. The empty value, last, stands for campaigns without one.
    """
    others: Counts = field(default_factory=dict)
    """By field: campaigns with values that `counts` leaves out."""

    more: bool = False
    is_counted: bool = True
    is_near_only: bool = False
    """Whether they are near a theme in meaning alone, without any of its words."""

    @property
    def size(self) -> str:
        """The number of campaigns in words: "at least 10,000"."""
        return f"at least {self.total:,}" if self.more else str(self.total)

    @property
    def aggregation(self) -> Aggregation | None:
        """The counts of all values; None if there are too many."""
        counts = {name: dict(self.counts.get(name, {})) for name in AGGREGATED}
        if any(len(values) > AGGREGATED_VALUES_MAX for values in counts.values()):
            return None
        return Aggregation.model_validate(counts)


NOTHING = CampaignSet(0, ())


@dataclass(frozen=True)
class KnownValues:
    """The known values of each filter, most frequent first, and the days of the first and the latest capture."""

    by_filter: Mapping[str, tuple[str, ...]]
    earliest: datetime.date | None = None
    latest: datetime.date | None = None

    def __bool__(self) -> bool:
        return any(self.by_filter.values())


@dataclass(frozen=True)
class Search:
    """One search: its conditions without those of the page, and a theme (by meaning) or words of the copy. `result` is set for a
    query.
    """

    tool: str
    conditions: tuple[Condition, ...]
    found: CampaignSet
    theme: str = ""
    words: str = ""
    result: QueryResult | None = None


@dataclass(frozen=True)
class Question:
    """What a question asks of campaigns. `theme` is searched for by meaning. `unread` are the words that no part of the Query
    reads; of these, `vetoes` are values, numbers, days and names.
    """

    query: Query
    verdict: Verdict
    theme: str = ""
    unread: Sequence[str] = ()
    vetoes: Sequence[str] = ()
    evidence: Sequence[Evidence] = ()
    needs_theme: bool = False
    """Whether an answer must come near the theme."""
    hints: tuple[Condition, ...] = ()
    """Conditions that only affect the order."""

    @property
    def is_list(self) -> bool:
        """Whether it asks for campaigns in no particular order."""
        return self.query.asks_for_rows and not self.query.order


NAME = "campaigns"
SCHEMA = Schema(SOURCES)
DATE = CAMPAIGNS.dated or ""
NO_DAY = datetime.date.min
"""The reference day for conditions without relative days."""
_SOURCE = replace(
    SOURCES[NAME],
    fields={name: replace(each, wording=CAMPAIGNS.fields[name].wording) for name, each in SOURCES[NAME].fields.items()},
)
[_RECENT] = comparisons_of(PREDICATES["recent"])
PHRASES = Phrases(Schema({NAME: _SOURCE}), _SOURCE, NO_DAY)


def label_of(condition: Condition, today: datetime.date = NO_DAY) -> str:
    """A condition in words that can follow "campaigns": "on Email"."""
    return replace(PHRASES, today=today).condition(condition)


# ---- filters ----


@dataclass(frozen=True)
class Resolved:
    """Filters as conditions, and their unknown values. `is_impossible`: all values of a filter are unknown."""

    conditions: tuple[Condition, ...] = ()
    unknown: tuple[UnknownValue, ...] = ()
    is_impossible: bool = False


def named_values(
    filters: CampaignFilters, exclude: ExcludedValues | None = None, pointer: str = ""
) -> list[NamedValue]:
    """The values that filters name or exclude, each with its pointer below `pointer`."""
    parts = [(filters, pointer), *([(exclude, f"{pointer}/exclude")] if exclude else [])]
    return [
        NamedValue((name,), value, f"{at}/{name}", is_negated=of is exclude)
        for of, at in parts
        for name in FILTER_VALUES
        for value in getattr(of, name)
    ]


def resolve(
    filters: CampaignFilters,
    named_values: Sequence[NamedValue],
    existing: Sequence[Sequence[str]],
    known_values: KnownValues,
) -> Resolved:
    """Filters as conditions. `existing` has the values of the data for each of the `named_values`."""
    unknown = [each for each, values in zip(named_values, existing, strict=True) if not values]
    met = {each.facets for each, values in zip(named_values, existing, strict=True) if values and not each.is_negated}
    return Resolved(
        (*_on_values(named_values, existing), *_on_others(filters, known_values.latest)),
        tuple(_explained(unknown, known_values)),
        any(not each.is_negated and each.facets not in met for each in unknown),
    )


def _on_values(named_values: Sequence[NamedValue], existing: Sequence[Sequence[str]]) -> Iterator[Condition]:
    """One condition for each filter: on its known values, or on those given if none is known."""
    values: dict[tuple[str, bool], tuple[list[str], list[str]]] = {}
    for each, found in zip(named_values, existing, strict=True):
        values_given, known = values.setdefault((each.facets[0], each.is_negated), ([], []))
        values_given.append(each.value)
        known.extend(found)
    for (name, is_negated), (values_given, known) in values.items():
        if known or not is_negated:
            yield compared(name, tuple(dict.fromkeys(known or values_given)), is_negated=is_negated)


def _on_others(filters: CampaignFilters, latest: datetime.date | None) -> Iterator[Condition]:
    if filters.offer:
        yield compared("offer", (filters.offer,))
    if filters.has_offer is not None:
        yield compared("offer", is_negated=not filters.has_offer)
    days = date_range(filters.date_range, latest)
    if days.from_date or days.to_date:
        yield _within(days.from_date, days.to_date)


def _explained(unknown: Sequence[NamedValue], values: KnownValues) -> Iterator[UnknownValue]:
    for place, each in enumerate(unknown):
        near = nearest(each.value, values.by_filter.get(each.facets[0], ())) if place < EXPLAINED_VALUES else ()
        yield UnknownValue(CAMPAIGNS.nouns[0], CAMPAIGNS.facets[each.facets[0]].label, each.value, near)


def date_range(range_: DateRange | Literal["recent"] | None, latest: datetime.date | None) -> DateRange:
    """A range as days; "recent" counts back from the latest capture."""
    if isinstance(range_, DateRange):
        return range_
    return (days_of(_RECENT, latest) if range_ and latest else None) or DateRange()


def filters_of(conditions: Iterable[Condition], today: datetime.date, latest: datetime.date | None) -> CampaignFilters:
    """The conditions that filters of the page can express, the first one for each field."""
    fields: dict[str, object] = {}
    for each in conditions:
        inner, is_denied = affirmed(each)
        if isinstance(inner, Comparison):
            fields = dict(_filter_of(inner, today, latest, is_denied=is_denied)) | fields
    return CampaignFilters.model_validate(fields)


def _filter_of(
    condition: Comparison, today: datetime.date, latest: datetime.date | None, *, is_denied: bool
) -> Iterator[tuple[str, object]]:
    field, values = condition.field, [str(each) for each in condition.scalars]
    if field == "offer" and condition.op == "not_null":
        yield "has_offer", not is_denied
    elif not is_denied and values and condition.op in ("=", "contains") and field in FILTER_VALUES:
        yield field, values
    elif not is_denied and values and condition.op in ("=", "contains") and field == "offer":
        yield field, values[0]
    elif not is_denied and (days := days_of(condition, today)):
        yield "date_range", "recent" if days == date_range("recent", latest) else days


def days_of(condition: Comparison, today: datetime.date) -> DateRange | None:
    """The days that a condition names; None unless it compares the day of capture with days."""
    values = condition.scalars
    is_range = condition.op in ("=", "<", "<=", ">", ">=", "between")
    if condition.field != DATE or not is_range or len(values) != (2 if condition.op == "between" else 1):
        return None
    days = [interval_of(value, "date", today, "") for value in values]
    first, last = days[0].first, days[-1].last
    ends = {"<": (None, first - DAY), "<=": (None, last), ">": (last + DAY, None), ">=": (first, None)}
    return DateRange.between(*ends.get(condition.op, (first, last)))


def in_days(condition: Condition, today: datetime.date) -> Condition:
    """A condition with dates in place of days that are relative to `today`."""
    days = days_of(condition, today) if isinstance(condition, Comparison) else None
    return condition if days is None else _within(days.from_date, days.to_date)


def compared(field: str, values: tuple[str, ...] = (), *, is_negated: bool = False) -> Condition:
    """The condition that a field has one of these values, or any value if none is given; an offer contains the words."""
    if not values:
        return Comparison(field=field, op="is_null" if is_negated else "not_null")
    if field != "offer":
        return Comparison(field=field, op="!=" if is_negated else "=", values=values)
    holds = Comparison(field=field, op="contains", values=values)
    return Not(negated=holds) if is_negated else holds


def _within(first: datetime.date | None, last: datetime.date | None) -> Comparison:
    ends = tuple(day.isoformat() for day in (first, last) if day)
    return Comparison(field=DATE, op="between" if len(ends) == 2 else "<=" if first is None else ">=", values=ends)
