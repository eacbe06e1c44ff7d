"""Conditions and values in words, as a reader of results is told them: "in Germany", "founded since 2020", "Q1 2024"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from quarry.core.language.writing import Writing
from quarry.core.query.mention import DateRange, MoneyRange, NumberRange
from quarry.core.query.quantities import converted, plain_unit
from quarry.core.query.question import Ask, Clause, Condition
from quarry.core.retrieval.facets import Facet, SearchTable
from quarry.core.retrieval.labels import NO_VALUE, day_label, days_label, listed_label, value_label

__all__ = ["NO_VALUE", "clause_label", "condition_label", "day_label", "grouped_by_label", "value_label"]

NAMED_VALUES_MAX = 4
"""So many values of a condition are named; of more, it is said how many."""


def clause_label(table: SearchTable, clause: Clause) -> str:
    """A clause in words, its conditions joined by "or"."""
    return " or ".join(dict.fromkeys(condition_label(table, condition) for condition in clause))


def condition_label(table: SearchTable, condition: Condition) -> str:
    """A condition in words that can follow "that is" or stand by themselves."""
    facet = table.facet(condition.facet)
    if facet.kind == "boolean" and condition.range is None and condition.values:
        return facet.wording if condition.is_negated == ("true" not in condition.values) else f"not {facet.wording}"
    if condition.range is None and not condition.values:
        return _presence(facet, is_negated=condition.is_negated)
    said = facet.wording.format(
        _range(facet, condition.range, table.writing) if condition.range else _values(condition.values)
    )
    return f"not {said}" if condition.is_negated else said


def grouped_by_label(table: SearchTable, ask: Ask, number: int) -> str:
    """What is grouped by, for so many of it: "channels", "year"."""
    if ask.grain:
        return ask.grain if number == 1 else f"{ask.grain}s"
    facet = table.facet(ask.facet or table.facets[0].name)
    return facet.label if number == 1 else facet.plural


def _presence(facet: Facet, *, is_negated: bool) -> str:
    event = facet.wording.removesuffix(" {}")
    if facet.kind in ("date", "year") and event != facet.wording and not event.startswith("with the "):
        return f"not {event}" if is_negated else event
    name = facet.plural if facet.is_array else _with_article(facet.label)
    return f"without {name}" if is_negated else f"with {name}"


def _with_article(noun: str) -> str:
    return ("an " if noun[:1].lower() in "aeiou" else "a ") + noun


def _values(values: Sequence[str]) -> str:
    named = [value.replace("_", " ") for value in values[:NAMED_VALUES_MAX]]
    if len(values) > NAMED_VALUES_MAX:
        named = [*named[:-1], f"{len(values) - NAMED_VALUES_MAX + 1:,} others"]
    return listed_label(named)


def _range(facet: Facet, range: DateRange | NumberRange | MoneyRange, writing: Writing) -> str:
    if isinstance(range, DateRange):
        return _dates(_of_whole_years(range) if facet.kind == "year" else range, writing)
    if isinstance(range, MoneyRange):
        return _amounts(range, facet.currency and (range.currency or facet.currency), writing)
    if facet.kind == "year":
        return between_label(range, "{:.0f}".format)
    told = plain_unit([range.least, range.most], facet.unit) if facet.unit else None
    if facet.unit is None or told is None or told == facet.unit:
        return between_label(
            range, writing.number, "less than" if facet.unit or facet.kind == "money" else "fewer than"
        )
    ends = (converted(end, facet.unit, told) for end in (range.least, range.most))
    least, most = (end and round(end, 2) for end in ends)
    return f"{between_label(replace(range, least=least, most=most), writing.number, 'less than')} {told}"


def _of_whole_years(range: DateRange) -> DateRange:
    """The years that a range is in: of what has no more than a year."""
    first, last = range.first, range.last
    return replace(range, first=first and first.replace(month=1, day=1), last=last and last.replace(month=12, day=31))


def _amounts(range: MoneyRange, currency: str | None, writing: Writing) -> str:
    amounts = NumberRange(range.least, range.most, range.includes_least, range.includes_most)
    return between_label(amounts, lambda value: writing.amount(value, currency), "less than")


def between_label(range: NumberRange, written: Callable[[float], str], below: str = "fewer than") -> str:
    """A range of numbers in words: "at least 3", "between 3 and 5"."""
    least, most = range.least, range.most
    if least is not None and least == most:
        return written(least)
    over = f"{'at least' if range.includes_least else 'more than'} {written(least)}" if least is not None else ""
    under = f"{'at most' if range.includes_most else below} {written(most)}" if most is not None else ""
    if least is not None and most is not None and range.includes_least and range.includes_most:
        return f"between {written(least)} and {written(most)}"
    return " and ".join(part for part in (over, under) if part) or "any"


def _dates(range: DateRange, writing: Writing) -> str:
    months = f"in {listed_label([writing.alone[month - 1] for month in range.months])}" if range.months else ""
    return " ".join(part for part in (months, days_label(range.first, range.last, writing)) if part) or "at any time"
