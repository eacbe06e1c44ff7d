"""A number in words: what was counted or reckoned, of which records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quarry.language.nouns import plural
from quarry.language.writing import ENGLISH, Writing
from quarry.records.contract import AggregationEvent, CountedGroup
from quarry.retrieval.answers import Value, measures_of
from quarry.retrieval.facets import Facet, SearchTable
from quarry.retrieval.labels import NO_VALUE, value_label
from quarry.spans.mention import Grain
from quarry.spans.question import Ask, Function

GROUPS_SAID_MAX = 8
PERIODS_SAID_MAX = 24
"""Of all periods, two years of months are told."""

_FUNCTIONS: Mapping[Function, str] = {"sum": "total", "avg": "average", "min": "lowest", "max": "highest"}


def sentence(
    table: SearchTable, ask: Ask, event: AggregationEvent, labels: Sequence[str], values: Sequence[Value] = ()
) -> str:
    """What the event tells of the records that are like `labels`; `values` are those of the records that are named."""
    writing = table.writing
    said = _like(labels)
    if ask.function and ask.of:
        return (
            _reckoned(table, ask, event, said)
            if not _is_in_time(table, ask)
            else _timed(table, ask, event, said, values)
        )
    if ask.kind == "distinct":
        of = f" of {noun(table, 2)}{said}" if said else ""
        return (
            f"The records tell {writing.number(event.total, ',')} different {_grouped_by(table, ask, event.total)}{of}."
        )
    counted = writing.number(event.total, ",") if event.total else "no"
    told = f"The records hold {counted} {noun(table, event.total)}{said}."
    if not event.groups:
        return told
    named = [
        f"{value_label(group.value, ask.grain, writing)} {writing.number(group.count, ',')}"
        for group in _groups_said(table, ask, event)
    ]
    if ask.limit is not None:
        which = "Fewest" if ask.ascending else "Most"
        return f"{which} {noun(table, 2)}{said}, by {_grouped(table, ask, event, named)}."
    return f"{told} By {_grouped(table, ask, event, named)}.{_remarks(table, event)}"


def numbers_of(tables: Sequence[SearchTable], event: AggregationEvent, labels: Sequence[str]) -> str:
    """What the event tells of the records of several tables, a group each, that are like `labels`."""
    writing = tables[0].writing
    numbers = [
        f"{writing.number(group.count, ',')} {noun(table, group.count)}"
        for table, group in zip(tables[:GROUPS_SAID_MAX], event.groups, strict=False)
    ]
    total = writing.number(event.total, ",")
    return f"The records hold {total} in all{_like(labels)}: {'; '.join(numbers)}{_more(event, writing)}."


def share_of(said: str, table: SearchTable, number: int, rows: int, labels: Sequence[str]) -> str:
    """What was `said` of a number of rows, and which share of how many like `labels` these are."""
    if not rows:
        return said
    share = table.writing.number(100 * number / rows, ".1f" if 100 * number % rows else ".0f")
    return (
        f"{said.removesuffix('.')}: {share} % of {table.writing.number(rows, ',')} {noun(table, rows)}{_like(labels)}."
    )


def _like(labels: Sequence[str]) -> str:
    return "".join(f", {label}" if place else f" {label}" for place, label in enumerate(labels))


def counted_on(table: SearchTable, rows: int) -> str:
    """What a number was counted on: so many rows, or all, where none was what was asked for."""
    return f"counted on {table.writing.number(rows, ',') if rows else 'all'} row{'' if rows == 1 else 's'}"


def _reckoned(table: SearchTable, ask: Ask, event: AggregationEvent, said: str) -> str:
    assert ask.function
    assert ask.of
    facet = table.facet(ask.of)
    writing = table.writing
    counted = writing.number(event.total, ",") if event.total else "no"
    of = f"{counted} {noun(table, event.total)}{said}"
    what = _called(facet, ask.function)
    if ask.also:
        return _reckoned_together(table, ask, event, of)
    if ask.kind == "measure":
        if event.value is None:
            return f"No {facet.label} can be told of {of}."
        return f"The {what} of {of} is {amount(facet, event.value, writing)}."
    named = [
        f"{value_label(group.value, ask.grain, writing)} {amount(facet, measured, writing)}"
        for group in _groups_said(table, ask, event)
        if (measured := measure_of(group, event)) is not None
    ]
    if ask.kind == "extreme":
        if event.value is None:
            return f"No {facet.label} can be told of {of}."
        if ask.limit in (None, 1):
            titles = "; ".join(str(group.value) for group in event.groups[:GROUPS_SAID_MAX])
            return f"The {what} of {of} is {amount(facet, event.value, writing)}: {titles}{_more(event, writing)}."
        return f"The {what} of {of}: {'; '.join(named)}{_more(event, writing)}."
    by = _grouped(table, ask, event, named)
    if ask.limit is not None:
        which = "Lowest" if ask.ascending else "Highest"
        return f"{which} {what if ask.function in ('sum', 'avg') else facet.label} of {of}, by {by}."
    return f"The {what} of {of}, by {by}."


def _reckoned_together(table: SearchTable, ask: Ask, event: AggregationEvent, of: str) -> str:
    """All that is reckoned of rows at once: of all, or of each group in the same order."""
    measures = [(each, table.facet(each.facet)) for each in measures_of(ask)]
    called = [_called(facet, each.function) for each, facet in measures]

    def told(values: Mapping[str, float | None]) -> list[str]:
        numbers = [values.get(each.name) for each, _ in measures]
        return [
            NO_VALUE if number is None else amount(facet, number, table.writing)
            for number, (_, facet) in zip(numbers, measures, strict=True)
        ]

    if ask.kind == "measure":
        said = [f"the {name} is {number}" for name, number in zip(called, told(event.measures), strict=True)]
        return f"Of {of}, {', '.join(said[:-1])} and {said[-1]}."
    named = [
        f"{value_label(group.value, ask.grain, table.writing)} {', '.join(told(group.model_extra or {}))}"
        for group in _groups_said(table, ask, event)
    ]
    return f"The {', '.join(called[:-1])} and {called[-1]} of {of}, by {_grouped(table, ask, event, named)}."


def _called(facet: Facet, function: Function) -> str:
    """What a function of a number is called: "average price"."""
    name = _FUNCTIONS[function]
    return facet.label if facet.label.split()[:1] == [name] else f"{name} {facet.label}"


def _is_in_time(table: SearchTable, ask: Ask) -> bool:
    return ask.kind == "extreme" and ask.of is not None and table.facet(ask.of).kind in ("date", "year")


def _timed(table: SearchTable, ask: Ask, event: AggregationEvent, said: str, values: Sequence[Value]) -> str:
    """The earliest or latest records, each with its day or year."""
    assert ask.of
    facet, writing = table.facet(ask.of), table.writing
    counted = writing.number(event.total, ",") if event.total else "no"
    of = f"{counted} {noun(table, event.total)}{said}"
    if not values:
        return f"No {facet.label} can be told of {of}."
    grain: Grain = "year" if facet.kind == "year" else "day"
    named = [
        f"{group.value} ({value_label(value, grain, writing)})"
        for group, value in zip(event.groups[:GROUPS_SAID_MAX], values, strict=False)
    ]
    which = "earliest" if ask.ascending else "latest"
    return f"The {which} of {of}, by {facet.label}: {'; '.join(named)}{_more(event, writing)}."


def measure_of(group: CountedGroup, event: AggregationEvent) -> float | None:
    """What was reckoned of a group."""
    return (group.model_extra or {}).get(event.of or "")


def is_in_time(table: SearchTable, ask: Ask) -> bool:
    """Whether all periods or dates are asked for: they are told in the order of time, the latest where there are many."""
    is_dated = ask.grain is not None or (ask.facet is not None and table.facet(ask.facet).kind in ("date", "year"))
    return ask.kind == "groups" and is_dated and ask.limit is None


def _groups_said(table: SearchTable, ask: Ask, event: AggregationEvent) -> Sequence[CountedGroup]:
    return event.groups[-PERIODS_SAID_MAX:] if is_in_time(table, ask) else event.groups[:GROUPS_SAID_MAX]


def _grouped(table: SearchTable, ask: Ask, event: AggregationEvent, named: Sequence[str]) -> str:
    """What is grouped by, and the groups that are named; where all groups are asked for, with how many rows the others hold."""
    by, listed = _grouped_by(table, ask, 1), "; ".join(named)
    rows = event.other + sum(group.count for group in event.groups)
    rows -= sum(group.count for group in _groups_said(table, ask, event))
    held = f" with {table.writing.number(rows, ',')}" if ask.limit is None and ask.function is None else ""
    if is_in_time(table, ask):
        is_cut = event.group_count > PERIODS_SAID_MAX
        latest = f", the latest {PERIODS_SAID_MAX} of {table.writing.number(event.group_count, ',')}" if is_cut else ""
        return f"{by}{latest}: {listed}{f'; all before{held}' if is_cut and held else ''}"
    return f"{by}: {listed}{_more(event, table.writing, held)}"


def _more(event: AggregationEvent, writing: Writing, held: str = "") -> str:
    """How many groups there are besides those that are named; `held`: with so many rows."""
    rest = event.group_count - GROUPS_SAID_MAX
    return f"; and {writing.number(rest, ',')} more{held}" if rest > 0 else ""


def _remarks(table: SearchTable, event: AggregationEvent) -> str:
    """Why groups do not add up to the total, and that empty periods are missing."""
    overlap = f" One {noun(table, 1)} can be in several groups." if event.overlapping else ""
    return f"{overlap}{' Periods without any are left out.' if event.gaps else ''}"


def amount(facet: Facet, value: float, writing: Writing) -> str:
    """A number as people write it, with at most two places, in its currency or, where its name does not say it, its unit."""
    told = writing.amount(value, facet.currency, ",.0f" if round(value, 2) == round(value) else ",.2f")
    is_named = facet.unit is None or facet.unit in facet.label.split()
    return told if is_named else f"{told} {facet.unit}"


def noun(table: SearchTable, number: int) -> str:
    """What so many rows of a table are called."""
    name = table.nouns[0]
    return name if number == 1 or table.language != ENGLISH else plural(name)


def _grouped_by(table: SearchTable, ask: Ask, number: int) -> str:
    """What is grouped by, for so many of it: "channels", "year"."""
    if ask.grain:
        return ask.grain if number == 1 else f"{ask.grain}s"
    facet = table.facet(ask.facet or table.facets[0].name)
    return facet.label if number == 1 else facet.plural
