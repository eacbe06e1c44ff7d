"""Conditions on campaigns: those of filters, on the wire, and in words. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from quarry.campaigns.contract import (
    FILTER_VALUES,
    CampaignFilters,
    ClauseOnWire,
    ConditionOnWire,
    Constraints,
    DateRange,
    ExcludedValues,
)
from quarry.campaigns.facets import CAMPAIGNS
from quarry.campaigns.results import KnownValues
from quarry.campaigns.sources import PREDICATES, SOURCES
from quarry.platform.contract import EVIDENCE_MAX, Evidence
from quarry.query.contract import Understood
from quarry.query.describe import evidence_of, understood
from quarry.query.paths import MONTH
from quarry.query.phrases import Phrases
from quarry.query.values import DAY, interval_of
from quarry.schema.algebra import AllOf, AnyOf, Comparison, Condition, Not, Query, Words, comparisons_of
from quarry.schema.source import EXPLAINED_VALUES, NamedValue, Schema, UnknownValue, nearest

NAME = "campaigns"
SCHEMA = Schema(SOURCES)
DATE = CAMPAIGNS.dated or ""
COPY = "copy"
"""The field for conditions on words in the copy."""
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
    for (field, is_negated), (values_given, known) in values.items():
        if known or not is_negated:
            yield compared(field, tuple(dict.fromkeys(known or values_given)), is_negated=is_negated)


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


def date_range(range_: DateRange | str | None, latest: datetime.date | None) -> DateRange:
    """A range as days; "recent" counts back from the latest capture."""
    if isinstance(range_, DateRange):
        return range_
    if range_ is None or latest is None:
        return DateRange()
    first, last = (interval_of(each, "date", latest, "") for each in _RECENT.values)
    return DateRange.between(first.first, last.last)


def filters_of(clauses: Iterable[ClauseOnWire], latest: datetime.date | None) -> CampaignFilters:
    """The required clauses that filters of the page can express, the first one for each field."""
    fields: dict[str, object] = {}
    for clause in clauses:
        if len(clause.any_of) == 1 and clause.strength == "required":
            fields = _filter_of(clause.any_of[0], latest) | fields
    return CampaignFilters.model_validate(fields)


def _filter_of(condition: ConditionOnWire, latest: datetime.date | None) -> dict[str, object]:
    if condition.field == "offer" and not condition.values:
        return {"has_offer": not condition.negated}
    if condition.negated or condition.months:
        return {}
    if condition.field in FILTER_VALUES and condition.values:
        return {condition.field: condition.values}
    if condition.field == "offer":
        return {"offer": condition.values[0]}
    if condition.field != DATE or not (condition.from_date or condition.to_date):
        return {}
    days = DateRange.between(condition.from_date, condition.to_date)
    return {"date_range": "recent" if days == date_range("recent", latest) else days}


# ---- the former form on the wire ----


def constraints_of(read: Understood, today: datetime.date, evidence: Iterable[Evidence] = ()) -> Constraints:
    """How a question was understood, as constraints, which cannot express everything."""
    required, preferred = (*read.query.where, *read.assumed), on_wire(read.preferred, today, "preferred")
    return Constraints(
        conditions=[*on_wire(required, today), *preferred],
        theme=read.about,
        words=read.query.text,
        evidence=list(evidence)[:EVIDENCE_MAX] or evidence_of(read),
    )


def understood_as(constraints: Constraints) -> Understood:
    """Constraints of a request as the same in the one form."""
    return understood(
        Query(source=NAME, where=from_wire(constraints.conditions, "required"), text=constraints.words),
        PHRASES,
        preferred=from_wire(constraints.conditions, "preferred"),
        about=constraints.theme,
        evidence=constraints.evidence,
    )


def on_wire(
    conditions: Iterable[Condition], today: datetime.date, strength: Literal["required", "preferred"] = "required"
) -> list[ClauseOnWire]:
    """The conditions as clauses on the wire, without those that it cannot express, such as comparisons with a query."""
    return [
        ClauseOnWire(any_of=parts, strength=strength, label=label_of(each, today))
        for each in conditions
        if (parts := _parts(each, today))
    ]


def _parts(condition: Condition, today: datetime.date) -> list[ConditionOnWire]:
    alternatives = condition.any_of if isinstance(condition, AnyOf) else (condition,)
    parts = [_on_wire(each, today) for each in alternatives]
    return [each for each in parts if each] if all(parts) else []


def _on_wire(condition: Condition, today: datetime.date) -> ConditionOnWire | None:
    match condition:
        case Not():
            denied = _on_wire(condition.negated, today)
            return denied and denied.model_copy(update={"negated": not denied.negated})
        case Words():
            return _wire(COPY, values=[condition.words])
        case Comparison() if condition.field == f"{MONTH}({DATE})" and condition.op == "=":
            return _wire(DATE, months=list(condition.scalars))
        case AllOf(all_of=(Comparison() as months, Comparison() as days)):
            found = _on_wire(months, today), _on_wire(days, today)
            return found[1].model_copy(update={"months": found[0].months}) if found[0] and found[1] else None
        case Comparison() if condition.field in _SOURCE.fields and condition.query is None:
            return _compared_on_wire(condition, today)
    return None


def _compared_on_wire(condition: Comparison, today: datetime.date) -> ConditionOnWire | None:
    values, is_negated = condition.scalars, condition.op == "!="
    if condition.op in ("is_null", "not_null"):
        return _wire(condition.field, negated=condition.op == "is_null")
    if condition.field != DATE:
        is_said = bool(values) and condition.op in ("=", "!=", "contains")
        return _wire(condition.field, values=[str(each) for each in values], negated=is_negated) if is_said else None
    if len(values) != (2 if condition.op == "between" else 1):
        return None
    days = [interval_of(value, "date", today, "") for value in values]
    first, last = days[0].first, days[-1].last
    ends = {"<": (None, first - DAY), "<=": (None, last), ">": (last + DAY, None), ">=": (first, None)}
    start, end = ends.get(condition.op, (first, last))
    return _wire(DATE, from_date=start, to_date=end, negated=is_negated)


def _wire(field: str, **fields: object) -> ConditionOnWire:
    return ConditionOnWire.model_validate({"field": field, **fields})


def from_wire(clauses: Iterable[ClauseOnWire], strength: Literal["required", "preferred"]) -> tuple[Condition, ...]:
    """The clauses of a strength as conditions."""
    chosen = [[_from_wire(each) for each in clause.any_of] for clause in clauses if clause.strength == strength]
    return tuple(AnyOf.of(parts) for parts in chosen)


def _from_wire(condition: ConditionOnWire) -> Condition:
    if condition.field == COPY:
        words = [Words(words=each) for each in condition.values]
        found: Condition = AnyOf.of(words)
        return Not(negated=found) if condition.negated else found
    if condition.field != DATE:
        return compared(condition.field, tuple(condition.values), is_negated=condition.negated)
    parts: list[Condition] = []
    if condition.months:
        parts.append(Comparison(field=f"{MONTH}({DATE})", values=tuple(condition.months)))
    if condition.from_date or condition.to_date:
        parts.append(_within(condition.from_date, condition.to_date))
    if not parts:
        return compared(DATE, is_negated=condition.negated)
    days = AllOf.of(parts)
    return Not(negated=days) if condition.negated else days


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
