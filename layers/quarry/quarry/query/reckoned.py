"""The numbers of a result, as every domain's `aggregation` has them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quarry.platform.contract import AggregationGroup
from quarry.query.algebra import Cell
from quarry.query.contract import QueryResult
from quarry.query.phrases import number_of

GROUPS_MAX = 50


def reckoned(result: QueryResult) -> dict[str, Any]:
    """What the rows are grouped `by`, how many there are in all and in each group, and what was calculated `of` them.

    `columns` say what the keys and the numbers of each group are. `groups` are the latest periods, else the first; `other` is how
    many rows are in the rest. `value` is the number of all rows.
    """
    query, names = result.query.last, [each.name for each in result.columns]
    keys = len(query.group)
    measures = {name: place for place, name in enumerate(names) if place >= keys and name != "count"}
    of = next(iter(measures), None)
    first = result.rows[0] if result.rows else []
    is_of_time = keys == 1 and query.group[0].period is not None and query.limit is None
    named = [*zip(result.rows, result.groups, strict=True)] if keys else []
    shown = named[-GROUPS_MAX:] if is_of_time else named[:GROUPS_MAX]
    groups = [_group(row, label, names, keys, measures) for row, label in shown]
    return {
        "by": ", ".join(names[:keys]) or None,
        "groups": groups,
        "group_count": len(result.rows) if keys else 0,
        "total": result.total,
        "other": max(0, result.total - sum(each.count or 0 for each in groups)) if "count" in names and keys else 0,
        "of": of,
        "value": _number(first[measures[of]]) if of and not keys and first else None,
        "columns": result.columns,
    }


def _group(
    row: Sequence[Cell], label: str, names: Sequence[str], keys: int, measures: Mapping[str, int]
) -> AggregationGroup:
    value = row[0] if keys == 1 and not isinstance(row[0], list) else label
    count = row[names.index("count")] if "count" in names else None
    numbers = {name: _number(row[place]) for name, place in measures.items()}
    return AggregationGroup.model_validate({**numbers, "value": value, "label": label, "count": count})


def _number(cell: Cell) -> float | str | None:
    """A number; one that no number of JSON has exactly as text."""
    if isinstance(cell, str):
        return cell if number_of(cell) is not None else None
    return float(cell) if isinstance(cell, int | float) else None
