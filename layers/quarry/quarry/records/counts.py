"""Exact numbers of records: in all, and by the values of a facet or by periods."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, get_args

from quarry.collections.names import nearest
from quarry.platform.contract import AggregationGroup
from quarry.platform.errors import FieldError, InvalidInput
from quarry.postgres.pool import Database
from quarry.query.filters import Filtered, facets_of
from quarry.query.paths import MONTH
from quarry.query.values import interval_of
from quarry.records.contract import CountRequest, Period, RecordCounts
from quarry.records.scope import SearchScope, facet_conditions, nearest_facets, types_with, with_known_values
from quarry.records.sources import RecordTypes, SearchedType, acting_for, skipping_broken_collections
from quarry.schema.algebra import Aggregate, Cell, Comparison, Group, Order, Result, comparisons_of
from quarry.schema.source import DATE, Field, union_of
from quarry.services.services import Caller, Services

GROUPS_MAX = 1000
"""Groups of one answer at most."""
PERIODS: tuple[Period, ...] = get_args(Period)
_LONGEST_DAYS: Mapping[Period, int] = {"day": 1, "month": 31, "year": 366}
_COUNT = Aggregate(fn="count")


async def count_records(request: CountRequest, caller: Caller, services: Services) -> RecordCounts:
    """Exact numbers of the records that the request leaves, of the types that have all facets that it names. Raises InvalidInput
    for a facet that no such type has, SourceUnavailable where no such collection can be read, and DatabaseUnavailable.
    """
    types, services = await acting_for(caller, services)
    everything = types.whole.named(request.type)
    facet_conditions(request.facets, everything)
    _check_group(request, everything)
    _measures(request, everything)
    return await skipping_broken_collections(types, services.memory, partial(_counted, request, services))


async def _counted(request: CountRequest, services: Services, types: RecordTypes) -> RecordCounts:
    """The numbers over these types."""
    chosen = types.named(request.type)
    scope = SearchScope(request.from_date, request.to_date, facets=facet_conditions(request.facets, chosen))
    _check_group(request, chosen)
    measures, period = _measures(request, chosen), _period(request)
    scope = await with_known_values(services.reader, scope, chosen, types.owners)
    facet = [request.by] if request.by and not period else []
    dated = [DATE] if period or scope.dated else []
    needed = [*facet, *dated, *(each.field for each in measures if each.field)]
    having = types_with(scope.facets, chosen, *needed)
    degraded = types.degraded(request.type)
    if not having:
        return RecordCounts(total=0, groups=[], truncated=False, degraded=degraded)
    table = (
        having[0].table
        if len(having) == 1
        else union_of([each.table for each in having], [*needed, *facets_of(scope.required_conditions)])
    )
    rows = Filtered(table, scope.required_conditions, request.q or "")
    found: dict[str, Any] = {"groups": [], "truncated": False}
    if request.by is not None:
        found = await _groups(rows, request.by, period, measures, services.reader)
    if request.by is None or measures:
        numbers = await rows.run(services.reader, aggregate=(_COUNT, *_read(measures)))
        found = {"total": numbers.total, **found, **_values(measures, numbers, numbers.rows[0])}
    return RecordCounts.model_validate({**found, "degraded": degraded})


async def _groups(
    rows: Filtered, by: str, period: Period | None, measures: Sequence[Aggregate], database: Database
) -> dict[str, Any]:
    """The groups of a facet, most rows first, or of periods in the order of time, as the wire has them."""
    table = rows.source
    facet = table.facets[(table.dated or DATE) if period else by]
    group = Group(field=facet.name, period=period if facet.facet == "date" else None)
    shape: dict[str, Any] = {
        "aggregate": (_COUNT, *_read(measures)),
        "group": (group,),
        "order": () if group.period else (Order(by="count", direction="desc"),),
    }
    filled = (Comparison(field="count", op=">", value=0),)
    if group.period and any(each.field == f"{MONTH}({facet.name})" for each in comparisons_of(rows.conditions)):
        shape["having"] = filled  # of rows of some months the other months are not empty
    result = await rows.run(database, **shape)
    if result.truncated and group.period:
        # too many periods: empty ones are left out
        shape |= {"order": (Order(by=facet.name, direction="desc"),), "having": filled}
        result = await rows.run(database, **shape)
    groups = [_group(row, facet, measures, result) for row in result.rows]
    if group.period:
        groups.sort(key=lambda each: (each.value is None, str(each.value)))
    shown = groups[-GROUPS_MAX:] if period else groups[:GROUPS_MAX]
    return {
        "total": result.total,
        "groups": shown,
        "truncated": result.groups > len(shown),
        "other": result.grouped - sum(each.count or 0 for each in shown),
        "overlapping": result.grouped > result.total,
        "gaps": group.period is not None and period is not None and _has_gaps(groups, period),
    }


def _group(row: Sequence[Cell], facet: Field, measures: Sequence[Aggregate], result: Result) -> AggregationGroup:
    """A row of the result. A period is named by its first day."""
    value, rows, *_ = row
    if value is not None and facet.facet == "date":
        value = interval_of(str(value), "date", datetime.date.min, "").first.isoformat()
    return AggregationGroup.model_validate({"value": value, "count": rows, **_values(measures, result, row)})


def _has_gaps(groups: Sequence[AggregationGroup], period: Period) -> bool:
    """Whether empty periods between others are left out."""
    days = sorted(datetime.date.fromisoformat(str(each.value)) for each in groups if each.value is not None)
    return any((after - before).days > _LONGEST_DAYS[period] for before, after in pairwise(days))


def _measures(request: CountRequest, types: Sequence[SearchedType]) -> list[Aggregate]:
    """The numbers to compute. Raises InvalidInput for a facet that is a number of no type."""
    measures = [Aggregate.model_validate({"fn": fn, "field": name}) for fn, _, name in map(_parted, request.of)]
    numbers = sorted({facet.name for each in types for facet in each.table.facets.values() if facet.is_measurable})
    wrong = [
        FieldError(
            f"/of/{place}",
            f"{each.field} is not a numeric field of these records{nearest(each.field or '', numbers)}: "
            + (", ".join(numbers) or "they have none, and can only be counted"),
        )
        for place, each in enumerate(measures)
        if each.field not in numbers
    ]
    if wrong:
        raise InvalidInput(wrong)
    return measures


def _parted(name: str) -> tuple[str, str, str]:
    return name.partition(":")


def _read(measures: Sequence[Aggregate]) -> list[Aggregate]:
    """The measures with a count of the values of each, since the sum of no values is null."""
    counts = [Aggregate(fn="count", field=each.field) for each in measures]
    return list(dict.fromkeys([*measures, *counts]))


def _values(measures: Sequence[Aggregate], result: Result, row: Sequence[Cell]) -> dict[str, Cell]:
    """The measures of a row of the result, by their names on the wire; None where no record has a value."""
    cells = dict(zip([column.name for column in result.columns], row, strict=True))
    return {f"{each.fn}:{each.field}": cells[each.name] if cells[f"count({each.field})"] else None for each in measures}


def _period(request: CountRequest) -> Period | None:
    return next((each for each in PERIODS if each == request.by), None)


def _check_group(request: CountRequest, types: Sequence[SearchedType]) -> None:
    """Raises InvalidInput where no type has the facet to group by."""
    by = request.by
    if by is not None and _period(request) is None and not types_with((), types, by):
        raise InvalidInput([FieldError("/by", f"by: {nearest_facets(by, types)}; or {', '.join(PERIODS)}")])
