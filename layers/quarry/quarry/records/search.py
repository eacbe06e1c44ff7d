"""What a request lists of records: a page of one ranked list over all types, with how many records of each type were found;
suggestions for what somebody types, which are titles in the order of the search; and exact numbers, in all and by groups.
"""

from __future__ import annotations

import datetime
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, get_args

from psycopg.sql import SQL, Literal

from quarry.collections.collection import ENGLISH
from quarry.collections.names import nearest
from quarry.platform.contract import AggregationGroup
from quarry.platform.errors import FieldError, InvalidInput
from quarry.platform.off_loop import off_loop
from quarry.platform.settings import LOCAL_EMBEDDING_MODEL
from quarry.platform.text import is_in_other_script, mark, words
from quarry.postgres.pool import Database
from quarry.query.filters import Filtered, facets_of
from quarry.query.paths import MONTH
from quarry.query.values import interval_of
from quarry.records.contract import (
    CountRequest,
    Matched,
    Period,
    RecordCounts,
    RecordKey,
    RecordType,
    Result,
    SameRecord,
    SearchRequest,
    SearchResponse,
    Suggestion,
    Suggestions,
    SuggestRequest,
)
from quarry.records.finding import DEPTH, PlanCandidates, fuse_types, gather_candidates, rank_candidates, search_plans
from quarry.records.reading import (
    SearchScope,
    classify_intent,
    facet_conditions,
    filtered_types,
    nearest_facets,
    read_records,
    types_with,
    without_exclusions,
)
from quarry.records.retrieval import (
    Count,
    RankedRecord,
    RecordText,
    TypeSearch,
    count_matches,
    describe,
    find_candidates,
    own_texts,
    with_fitting,
)
from quarry.records.sources import RecordTypes, SearchedType, acting_for, skipping_broken_collections
from quarry.retrieval.fusion import fold
from quarry.runs.run_log import ResultRecord, Run
from quarry.schema.algebra import Aggregate, Cell, Comparison, Group, Order, comparisons_of
from quarry.schema.algebra import Result as QueryRows
from quarry.schema.source import DATE, Field, union_of
from quarry.services.services import Caller, Services

FOLDED = 100
"""The best records, which are compared to fold those with nearly the same text."""
COUNTED_MAX = 10_000
"""Records of a type are counted exactly up to this number."""


async def search_records(
    request: SearchRequest, caller: Caller, services: Services, request_id: str | None = None
) -> SearchResponse:
    """The ranked list for a query. Raises InvalidInput for a type that there is not and a facet that no searched type has,
    SourceUnavailable where no searched collection can be read, and DatabaseUnavailable; a failing embedding model only degrades.
    """
    types, services = await acting_for(caller, services)
    facet_conditions(request.facets, types.whole.by_names(request.type))
    with services.run("records", caller, request.q, request.as_asked(), request_id=request_id) as run:
        response = await skipping_broken_collections(
            types, services.memory, partial(_searched, request, caller, services, run)
        )
        run.results = [ResultRecord(each.type, each.id, each.score) for each in response.results]
        run.end_reason = "answered"
        for name in response.degraded:
            run.degrade(name)
        return response


async def _searched(
    request: SearchRequest, caller: Caller, services: Services, run: Run, types: RecordTypes
) -> SearchResponse:
    """The ranked list over these types."""
    searched_types, scope = await filtered_types(request, request.type, types, services.reader, is_strict=request.must)
    reading = await read_records(caller, services, types, request.q, request.type)
    candidates = await gather_candidates(request.q, searched_types, services, run, reading=reading, scope=scope)
    ranked = await rank_candidates(candidates, services, reading, request.ranking)
    with run.step("fold"):
        places = (
            await _folded(ranked, candidates, types, services)
            if request.ranking == "scores"
            else [[item] for item in ranked]
        )
    page = places[request.offset : request.offset + request.limit]
    with run.step("describe") as record:
        texts = await describe(services.reader, [item.key for same in page for item in same], types, request.q)
        record.counts["records"] = len(texts)
    with run.step("count"):
        counts = await _counts(services.reader, candidates, ranked, scope)
    capped = [name for name, count in counts.items() if count.is_capped]
    return SearchResponse(
        query=request.q,
        intent=classify_intent(request.q),
        results=[_result(same, texts) for same in page if same[0].key in texts],
        counts={each.name: counts[each.name].rows if each.name in counts else 0 for each in searched_types},
        more=bool(capped),
        capped=capped or None,
        degraded=[*run.degraded, *types.degraded(request.type)],
    )


async def _counts(
    database: Database, candidates: PlanCandidates, ranked: Sequence[RankedRecord], scope: SearchScope
) -> dict[RecordType, Count]:
    """How many records of each type the query finds: all that hold a word of it or are listed, and those of `ranked` that are
    there for their meaning. Of a type at most `COUNTED_MAX`.
    """
    by_words = {each.key for each in candidates.candidates if each.text_score is not None and not each.is_apart}
    by_meaning: dict[RecordType, list[str]] = {}
    for name, id in (item.key for item in ranked if item.key not in by_words):
        by_meaning.setdefault(name, []).append(id)
    arms = [arm for arm in candidates.plan.arms if not arm.is_apart and arm.type not in candidates.plan.listed]
    counts = await count_matches(database, arms, by_meaning, COUNTED_MAX, is_strict=scope.is_strict)
    for each, conditions in candidates.plan.listed.items():
        counts[each.name] = Count.up_to(COUNTED_MAX, await Filtered(each.table, conditions).count(database))
    return counts


async def _folded(
    ranked: Sequence[RankedRecord], candidates: PlanCandidates, types: RecordTypes, services: Services
) -> list[list[RankedRecord]]:
    """The list with nearly identical records folded at the place of the best of them. Folding does not depend on the page, so
    that pages fit together. Records that meet the question's conditions are not folded with others.
    """
    first = ranked[:FOLDED]
    texts = await own_texts(services.reader, [item.key for item in first], types)
    apart = {each.key for each in candidates.candidates if each.is_apart}
    groups = await off_loop(_groups_of, [item.key for item in first], texts, apart)
    return [[first[place] for place in group] for group in groups] + [[item] for item in ranked[FOLDED:]]


def _groups_of(
    keys: Sequence[RecordKey], texts: Mapping[RecordKey, str], apart: Container[RecordKey]
) -> list[list[int]]:
    halves = [[place for place, key in enumerate(keys) if (key in apart) is meets] for meets in (True, False)]
    return sorted(
        [half[place] for place in group]
        for half in halves
        for group in fold([texts.get(keys[place], "") for place in half])
    )


def _result(same: Sequence[RankedRecord], texts: Mapping[RecordKey, RecordText]) -> Result:
    item, *others = same
    text = texts[item.key]
    also = [texts[other.key] for other in others if other.key in texts]
    return Result(
        type=text.type,
        id=text.id,
        title=text.title,
        snippet=mark(text.snippet),
        score=item.score,
        date=text.date,
        meeting_id=text.meeting_id,
        url=text.url,
        matched=Matched(text_rank=item.text_rank, semantic_rank=item.semantic_rank),
        also=[SameRecord(type=each.type, id=each.id, title=each.title, date=each.date) for each in also],
    )


SAME_TITLE_MAX = 3
"""So many times the titles are read, since several records may have the same."""


async def suggest_titles(request: SuggestRequest, caller: Caller, services: Services) -> Suggestions:
    """Titles for what was typed so far. Raises as `search_records` does."""
    types, services = await acting_for(caller, services)
    facet_conditions(request.facets, types.whole.by_names(request.type))
    suggestions = await skipping_broken_collections(types, services.memory, partial(_suggested, request, services))
    return Suggestions(query=request.q, suggestions=suggestions, degraded=types.degraded(request.type))


async def _suggested(request: SuggestRequest, services: Services, types: RecordTypes) -> list[Suggestion]:
    searched_types, scope = await filtered_types(request, request.type, types, services.reader)
    # a word that is excluded belongs to no title
    text = without_exclusions(request.q)
    if not words(text):
        return []
    [plan] = search_plans(request.q, searched_types, None, scope)
    arms = [each for each in await with_fitting(services.reader, plan.arms) if each.type.is_searched]
    ranked = await _ranked(text, arms, services)
    keys = await _with_titles(text, arms, ranked, SAME_TITLE_MAX * request.limit, services.reader)
    texts = await describe(services.reader, keys, types)
    return [
        Suggestion(type=each.type, id=each.id, title=each.title, date=each.date, url=each.url)
        for each in _with_own_titles(texts[key] for key in keys if key in texts)
    ][: request.limit]


async def _ranked(text: str, arms: Sequence[TypeSearch], services: Services) -> list[RecordKey]:
    """The records that the search finds, best first. A remote model would take too long, and cost something for each letter."""
    is_local = services.embeddings.name == LOCAL_EMBEDDING_MODEL
    vector = await services.queries.embed(text) if is_local and not is_in_other_script(text) else None
    candidates = await find_candidates(services.reader, arms, vector=vector, depth=DEPTH, reads_english_alone=is_local)
    weight = (await services.tuned_settings()).records_semantic_weight
    return [each.key for each in fuse_types(candidates, weight)]


async def _with_titles(
    query: str, arms: Sequence[TypeSearch], ranked: Sequence[RecordKey], limit: int, database: Database
) -> list[RecordKey]:
    """The records whose titles hold the words: of those `ranked` first, then of others, `limit` at most. Where no title of any
    type holds all words, those that hold some.
    """
    if not arms:
        return []
    calls = []
    for arm in arms:
        condition = arm.type.condition(arm.conditions)
        calls.append(
            SQL(
                "select {name} as type, s.id, s.is_whole from suggested_titles({rows}, {titles}, %(query)s, {ranked}, %(limit)s,"
                " {condition}, {seen}, {language}) s"
            ).format(
                name=Literal(arm.type.name),
                rows=Literal(arm.type.rows),
                titles=Literal(arm.type.titles),
                ranked=Literal([id for name, id in ranked if name == arm.type.name]) + SQL("::text[]"),
                condition=Literal(None if condition is None else condition.as_string(None)),
                seen=Literal(arm.type.visible),
                language=Literal(arm.type.languages[0] or ENGLISH),
            )
        )
    rows = await database.rows(SQL(" union all ").join(calls), {"query": query, "limit": limit})
    places = {key: place for place, key in enumerate(ranked)}
    keys = [(row["type"], row["id"]) for row in rows if row["is_whole"]] or [(row["type"], row["id"]) for row in rows]
    listed = sorted((key for key in keys if key in places), key=places.__getitem__)
    return [*listed, *(key for key in keys if key not in places)][:limit]


def _with_own_titles(texts: Iterable[RecordText]) -> Iterator[RecordText]:
    """The first of the records that have the same title."""
    titles: set[str] = set()
    for each in texts:
        if (title := each.title.casefold()) not in titles:
            titles.add(title)
            yield each


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
    everything = types.whole.by_names(request.type)
    facet_conditions(request.facets, everything)
    _check_group(request, everything)
    _measures(request, everything)
    return await skipping_broken_collections(types, services.memory, partial(_numbers, request, services))


async def _numbers(request: CountRequest, services: Services, types: RecordTypes) -> RecordCounts:
    """The numbers over these types."""
    counted_types, scope = await filtered_types(request, request.type, types, services.reader)
    _check_group(request, counted_types)
    measures, period = _measures(request, counted_types), _period(request)
    facet = [request.by] if request.by and not period else []
    dated = [DATE] if period or scope.dated else []
    needed = [*facet, *dated, *(each.field for each in measures if each.field)]
    having = types_with(scope.facets, counted_types, *needed)
    degraded = types.degraded(request.type)
    if not having:
        return RecordCounts(total=0, groups=[], truncated=False, degraded=degraded)
    table = (
        having[0].table
        if len(having) == 1
        else union_of([each.table for each in having], [*needed, *facets_of(scope.required_conditions)])
    )
    rows = Filtered(table, scope.required_conditions, request.q or "")
    fields: dict[str, Any] = {"groups": [], "truncated": False}
    if request.by is not None:
        fields = await _groups(rows, request.by, period, measures, services.reader)
    if request.by is None or measures:
        numbers = await rows.run(services.reader, aggregate=(_COUNT, *_with_counts(measures)))
        fields = {"total": numbers.total, **fields, **_values(measures, numbers, numbers.rows[0])}
    return RecordCounts.model_validate({**fields, "degraded": degraded})


async def _groups(
    rows: Filtered, by: str, period: Period | None, measures: Sequence[Aggregate], database: Database
) -> dict[str, Any]:
    """The groups of a facet, most rows first, or of periods in the order of time, as the wire has them."""
    table = rows.source
    facet = table.facets[(table.dated or DATE) if period else by]
    group = Group(field=facet.name, period=period if facet.facet == "date" else None)
    shape: dict[str, Any] = {
        "aggregate": (_COUNT, *_with_counts(measures)),
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
    page = groups[-GROUPS_MAX:] if period else groups[:GROUPS_MAX]
    return {
        "total": result.total,
        "groups": page,
        "truncated": result.groups > len(page),
        "other": result.grouped - sum(each.count or 0 for each in page),
        "overlapping": result.grouped > result.total,
        "gaps": group.period is not None and period is not None and _has_gaps(groups, period),
    }


def _group(row: Sequence[Cell], facet: Field, measures: Sequence[Aggregate], result: QueryRows) -> AggregationGroup:
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


def _with_counts(measures: Sequence[Aggregate]) -> list[Aggregate]:
    """The measures with a count of the values of each, since the sum of no values is null."""
    counts = [Aggregate(fn="count", field=each.field) for each in measures]
    return list(dict.fromkeys([*measures, *counts]))


def _values(measures: Sequence[Aggregate], result: QueryRows, row: Sequence[Cell]) -> dict[str, Cell]:
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
