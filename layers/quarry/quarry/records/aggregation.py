"""The numbers of a query as the event that charts are drawn from."""

from __future__ import annotations

from collections.abc import Sequence

from quarry.query.algebra import Cell
from quarry.query.contract import QueryResult
from quarry.records.contract import AggregationEvent, CountedGroup

GROUPS_MAX = 50


def aggregation_of(results: Sequence[QueryResult]) -> AggregationEvent | None:
    """The event of the first query that asked for numbers; None where none did."""
    asked = (each for each in results if each.query.aggregate)
    return next(map(_event, asked), None)


def _event(result: QueryResult) -> AggregationEvent:
    query, names = result.query, [each.name for each in result.columns]
    keys = len(query.group)
    measures = {name: place for place, name in enumerate(names) if place >= keys and name != "count"}
    of = next(iter(measures), None)
    first = result.rows[0] if result.rows else []
    is_of_time = keys == 1 and query.group[0].period is not None and query.limit is None
    shown = result.rows[-GROUPS_MAX:] if is_of_time else result.rows[:GROUPS_MAX]
    groups = [_group(row, names, keys, measures) for row in shown] if keys else []
    return AggregationEvent(
        by=", ".join(names[:keys]) or None,
        groups=groups,
        group_count=len(result.rows) if keys else 0,
        total=result.total,
        other=max(0, result.total - sum(each.count for each in groups)) if "count" in names and keys else 0,
        of=of,
        value=_number(first[measures[of]]) if of and not keys and first else None,
        filters={chip.pointer: chip.label for chip in result.filters},
        query=query,
        sentence=result.sentence,
    )


def _group(row: Sequence[Cell], names: Sequence[str], keys: int, measures: dict[str, int]) -> CountedGroup:
    value = row[0] if keys == 1 and not isinstance(row[0], list) else ", ".join(map(str, row[:keys]))
    count = row[names.index("count")] if "count" in names else None
    numbers = {name: _number(row[place]) for name, place in measures.items()}
    return CountedGroup.model_validate({"value": value, "count": count if isinstance(count, int) else 0, **numbers})


def _number(cell: Cell) -> float | None:
    return float(cell) if isinstance(cell, int | float) else None
