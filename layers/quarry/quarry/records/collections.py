"""The types of record as a client is told of them, and how many records there are."""

from __future__ import annotations

from typing import get_args

from quarry.core.contract import AggregationGroup
from quarry.core.errors import FieldError, InvalidInput
from quarry.core.postgres.pool import Database
from quarry.core.query.question import Ask
from quarry.core.retrieval import questions
from quarry.core.retrieval.answers import Group
from quarry.core.retrieval.filters import Among
from quarry.records.contract import Collection, CollectionFacet, Collections, CountRequest, Period, RecordCounts
from quarry.records.filters import facet_clauses, nearest_facets, types_with
from quarry.records.retrieval import Scope
from quarry.records.types import SEARCHED_BY_TYPE, TYPES, Declared, RecordType

GROUPS_MAX = 1000
"""So many groups are told."""

_PERIODS: tuple[Period, ...] = get_args(Period)


def collections() -> Collections:
    """All types of record, in their fixed order."""
    return Collections(collections=[_collection(name, declared) for name, declared in TYPES.items()])


def _collection(name: RecordType, declared: Declared) -> Collection:
    return Collection(
        name=name,
        label=f"{declared.table.nouns[0]}s".capitalize(),
        description=declared.told[0].upper() + declared.told[1:],
        facets=[CollectionFacet(name=each.name, kind=each.kind, label=each.label) for each in declared.table.facets],
        date=declared.table.date,
    )


async def count_records(request: CountRequest, database: Database) -> RecordCounts:
    """Exact numbers of the records that the request leaves, of the types that have all facets that it names. Raises InvalidInput
    for a facet that no such type has, and DatabaseUnavailable.
    """
    scope = Scope(request.from_date, request.to_date, facets=facet_clauses(request.facets, request.types))
    ask = _asked(request)
    types = types_with(scope.facets, request.types, *([ask.facet] if ask.facet else []))
    tables = [SEARCHED_BY_TYPE[name] for name in types]
    clauses, among = [*scope.dated, *scope.facets], Among(words=request.q or "")
    if not tables:
        return RecordCounts(total=0, groups=[], truncated=False)
    if ask.kind == "count":
        total = sum([(await questions.answer(database, table, ask, clauses, among)).rows for table in tables])
        return RecordCounts(total=total, groups=[], truncated=False)
    answer = await questions.groups_over(database, tables, ask, clauses, among)
    groups = answer.groups[:GROUPS_MAX]
    if ask.grain:
        groups = sorted(groups, key=lambda group: str(group.value))
    return RecordCounts(
        total=answer.rows, groups=list(map(_group, groups)), truncated=(answer.number or 0) > len(groups)
    )


def _group(group: Group) -> AggregationGroup:
    return AggregationGroup(value=group.value, count=group.rows)


def _asked(request: CountRequest) -> Ask:
    by = request.by
    if by is None:
        return Ask("count")
    for period in _PERIODS:
        if by == period:
            return Ask("groups", grain=period)
    if not types_with((), request.types, by):
        near = nearest_facets(by, request.types)
        raise InvalidInput([FieldError("/by", f"by: {near}; or {', '.join(_PERIODS)}")])
    return Ask("groups", facet=by)
