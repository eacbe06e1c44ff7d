"""The types of record for clients, with their numbers of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import get_args

from quarry.agent.sources import describe_sources
from quarry.collections.naming import nearest
from quarry.collections.reference_declarations import Quoting
from quarry.collections.search_table import DATE
from quarry.language.word_forms import plural
from quarry.language.writing import ENGLISH, languages
from quarry.platform.errors import FieldError, InvalidInput
from quarry.query.algebra import comparisons_of
from quarry.query.contract import SourceDescription
from quarry.query.filtered import Filtered, Group, Measure, united
from quarry.records.collections_contract import (
    Collection,
    CollectionFacet,
    Collections,
    CountRequest,
    Period,
    RecordCounts,
    WholeRecord,
)
from quarry.records.contract import AggregationEvent, CountedGroup, RecordType
from quarry.records.retrieval import describe, whole_record
from quarry.records.scope import Scope, facet_clauses, nearest_facets, types_with, with_known_values
from quarry.records.searched_types import RecordTypes, SearchedType
from quarry.records.sources import acting_for, over_readable
from quarry.retrieval.facets import SearchTable
from quarry.services.services import Caller, Services

GROUPS_MAX = 1000
"""So many groups are told."""

PERIODS: tuple[Period, ...] = get_args(Period)


async def describe_collections(caller: Caller, services: Services) -> Collections:
    """All types of record, in their order, and the other sources that a caller may ask. Raises DatabaseUnavailable."""
    types, _ = await acting_for(caller, services)
    sources = await describe_sources(caller, services)
    return Collections(
        collections=[_collection(each, sources.get(name)) for name, each in types.items()],
        sources=[source for name, source in sources.items() if name not in types.whole],
        degraded=types.degraded(),
    )


def _collection(type: SearchedType, source: SourceDescription | None) -> Collection:
    return Collection(
        name=type.name,
        label=type.label,
        description=type.told[0].upper() + type.told[1:],
        facets=[
            CollectionFacet(name=each.name, kind=each.kind, label=each.label, currency=each.currency)
            for each in type.facets
        ],
        date=type.table.date,
        language=_code(type.table.languages or (ENGLISH,)),
        fields=source.fields if source else [],
        related=source.related if source else [],
    )


def _code(read_by: Sequence[str]) -> str | None:
    """The code of the one language of these text search configurations."""
    known = languages().get(read_by[0]) if len(read_by) == 1 else None
    return known.code if known else None


async def read_record(type: RecordType, record_id: str, caller: Caller, services: Services) -> WholeRecord:
    """One whole record. Raises InvalidInput for a type that there is not, NotFound, SourceUnavailable and DatabaseUnavailable."""
    types, services = await acting_for(caller, services)

    async def read(types: RecordTypes) -> WholeRecord:
        [chosen] = types.named([type])
        whole = await whole_record(services.reader, chosen, record_id)
        texts = await describe(services.reader, [(chosen.name, record_id)], types, "")
        return whole.model_copy(update={"text": texts[0].body if texts else None})

    return await over_readable(types, services.memory, read)


async def count_records(request: CountRequest, caller: Caller, services: Services) -> RecordCounts:
    """Exact numbers of the records that the request leaves, of the types that have all facets that it names. Raises InvalidInput
    for a facet that no such type has, SourceUnavailable where no such collection can be read, and DatabaseUnavailable.
    """
    types, services = await acting_for(caller, services)
    everything = types.whole.named(request.type)
    facet_clauses(request.facets, everything)
    _by(request, everything)
    _measures(request, everything)
    return await over_readable(types, services.memory, partial(_counted, request, services))


async def _counted(request: CountRequest, services: Services, types: RecordTypes) -> RecordCounts:
    """The numbers over these types."""
    chosen = types.named(request.type)
    scope = Scope(request.from_date, request.to_date, facets=facet_clauses(request.facets, chosen))
    by, measures = _by(request, chosen), _measures(request, chosen)
    scope = await with_known_values(services.reader, scope, chosen, types.owners)
    dated = [DATE] if by.period or scope.dated else []
    needed = [*([by.facet] if by.facet else []), *dated, *(each.facet for each in measures)]
    tables = [each.table for each in types_with(scope.facets, chosen, *needed)]
    clauses, degraded = [*scope.dated, *scope.facets], types.degraded(request.type)
    if not tables:
        return RecordCounts(total=0, groups=[], truncated=False, degraded=degraded)
    named = [condition.facet for clause in clauses for condition in clause]
    table = tables[0] if len(tables) == 1 else united(tables, [*needed, *named])
    rows = Filtered(table, clauses, request.q or "")
    if request.by is None:
        total, everything = await rows.numbers(services.reader, measures)
        return RecordCounts.model_validate(
            {"total": total, "groups": [], "truncated": False, "degraded": degraded, **everything}
        )
    found = await rows.groups(services.reader, by.facet, by.period, measures)
    everything = (await rows.numbers(services.reader, measures))[1] if measures else {}
    groups = found.groups[-GROUPS_MAX:] if by.period else found.groups[:GROUPS_MAX]
    return RecordCounts.model_validate(
        {
            "total": found.rows,
            "groups": list(map(_group, groups)),
            "truncated": found.count > len(groups),
            "other": found.left_out(groups),
            "overlapping": found.is_overlapping,
            "gaps": found.has_gaps,
            "degraded": degraded,
            **everything,
        }
    )


def _group(group: Group) -> CountedGroup:
    return CountedGroup(value=group.value, count=group.rows, **group.measures)


def _measures(request: CountRequest, types: Sequence[SearchedType]) -> list[Measure]:
    """What is to be reckoned. Raises InvalidInput for a facet that is no number of any type."""
    measures = [Measure.named(each) for each in request.of]
    numbers = sorted({facet.name for each in types for facet in each.table.facets if facet.is_measurable})
    wrong = [
        FieldError(
            f"/of/{place}",
            f"{each.facet} is not a numeric field of these records{nearest(each.facet, numbers)}: "
            + (", ".join(numbers) or "they have none, and can only be counted"),
        )
        for place, each in enumerate(measures)
        if each.facet not in numbers
    ]
    if wrong:
        raise InvalidInput(wrong)
    return measures


@dataclass(frozen=True)
class _By:
    """What records are grouped by; of neither they are only counted."""

    facet: str | None = None
    period: Period | None = None


def _by(request: CountRequest, types: Sequence[SearchedType]) -> _By:
    """What is grouped by. Raises InvalidInput for a facet that no type has."""
    by = request.by
    for period in PERIODS:
        if by == period:
            return _By(period=period)
    if by is not None and not types_with((), types, by):
        near = nearest_facets(by, types)
        raise InvalidInput([FieldError("/by", f"by: {near}; or {', '.join(PERIODS)}")])
    return _By(facet=by)


def counts_next(
    counted: AggregationEvent, types: Sequence[SearchedType], tables: Mapping[str, SearchTable]
) -> list[str]:
    """Questions that divide what was counted: by what it is filtered by, by month, and by its numbers. None for a type that
    declares which question its records answer.
    """
    query, declared = counted.query, {each.name for each in types if each.quoting.followup != Quoting().followup}
    table = next((tables.get(name) for name in counted.filters.get("types", ()) if name not in declared), None)
    if query is None or table is None:
        return []
    rows = plural(table.nouns[0])
    asked = {*(each.field for each in query.group), *(each.field for each in query.aggregate)}
    filtered = {each.field for each in comparisons_of(query.where)} - asked
    grouped = [facet.label for facet in table.facets if facet.name in filtered and facet.is_listed]
    numbers = [each for each in table.facets if each.is_measurable and each.kind != "year" and each.name not in asked]
    return [
        *(f"How many {rows} are there for each {label}?" for label in grouped),
        *([f"How many {rows} are there each month?"] if table.date and not query.group else []),
        *(f"What is the average {facet.label} of {rows}?" for facet in numbers),
    ]
