"""Records search: a page of one ranked list over all types, with how many records of each type were found; and
suggestions for what somebody types: titles, in the order of the search where what was typed is all that it knows.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import partial

from psycopg.sql import SQL, Literal

from quarry.collections.collection import ENGLISH
from quarry.platform.off_loop import off_loop
from quarry.platform.settings import LOCAL_EMBEDDING_MODEL
from quarry.platform.text import is_in_other_script, mark, words
from quarry.postgres.pool import Database
from quarry.query.filters import Filtered
from quarry.records.contract import (
    Matched,
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
from quarry.records.evidence import RankedRecord, RecordText
from quarry.records.finding import DEPTH, PlanCandidates, fuse_types, gather_candidates, rank_found, search_plans
from quarry.records.reading import classify_intent, read_records, without_exclusions
from quarry.records.retrieval import (
    Count,
    TypeSearch,
    count_found,
    describe,
    find_candidates,
    what_they_say,
    with_fitting,
)
from quarry.records.scope import SearchScope, facet_conditions, with_known_values
from quarry.records.sources import RecordTypes, acting_for, skipping_broken_collections
from quarry.retrieval.fusion import fold
from quarry.runs.run_log import ResultRecord, Run
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
    facet_conditions(request.facets, types.whole.named(request.type))
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
    chosen = types.named(request.type)
    scope = SearchScope(request.from_date, request.to_date, request.must, facet_conditions(request.facets, chosen))
    scope = await with_known_values(services.reader, scope, chosen, types.owners)
    reading = await read_records(caller, services, types, request.q, request.type)
    found = await gather_candidates(request.q, chosen, services, run, reading=reading, scope=scope)
    ranked = await rank_found(found, services, reading, request.ranking)
    with run.step("fold"):
        places = (
            await _folded(ranked, found, types, services)
            if request.ranking == "scores"
            else [[item] for item in ranked]
        )
    page = places[request.offset : request.offset + request.limit]
    with run.step("describe") as record:
        texts = await describe(services.reader, [item.key for same in page for item in same], types, request.q)
        record.counts["records"] = len(texts)
    with run.step("count"):
        counts = await _counts(services.reader, found, ranked, scope)
    capped = [name for name, count in counts.items() if count.is_capped]
    return SearchResponse(
        query=request.q,
        intent=classify_intent(request.q),
        results=[_result(same, texts) for same in page if same[0].key in texts],
        counts={each.name: counts[each.name].rows if each.name in counts else 0 for each in chosen},
        more=bool(capped),
        capped=capped or None,
        degraded=[*run.degraded, *types.degraded(request.type)],
    )


async def _counts(
    database: Database, found: PlanCandidates, ranked: Sequence[RankedRecord], scope: SearchScope
) -> dict[RecordType, Count]:
    """How many records of each type the query finds: all that hold a word of it or are listed, and those of `ranked` that are
    there for their meaning. Of a type at most `COUNTED_MAX`.
    """
    by_words = {each.key for each in found.candidates if each.text_score is not None and not each.is_apart}
    by_meaning: dict[RecordType, list[str]] = {}
    for name, id in (item.key for item in ranked if item.key not in by_words):
        by_meaning.setdefault(name, []).append(id)
    arms = [arm for arm in found.plan.arms if not arm.is_apart and arm.type not in found.plan.listed]
    counts = await count_found(database, arms, by_meaning, COUNTED_MAX, is_strict=scope.is_strict)
    for each, conditions in found.plan.listed.items():
        counts[each.name] = Count.up_to(COUNTED_MAX, await Filtered(each.table, conditions).count(database))
    return counts


async def _folded(
    ranked: Sequence[RankedRecord], found: PlanCandidates, types: RecordTypes, services: Services
) -> list[list[RankedRecord]]:
    """The list with nearly identical records folded at the place of the best of them. Folding does not depend on the page, so
    that pages fit together. Records that meet the question's conditions are not folded with others.
    """
    first = ranked[:FOLDED]
    texts = await what_they_say(services.reader, [item.key for item in first], types)
    apart = {each.key for each in found.candidates if each.is_apart}
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
    facet_conditions(request.facets, types.whole.named(request.type))
    found = await skipping_broken_collections(types, services.memory, partial(_suggested, request, services))
    return Suggestions(query=request.q, suggestions=found, degraded=types.degraded(request.type))


async def _suggested(request: SuggestRequest, services: Services, types: RecordTypes) -> list[Suggestion]:
    chosen = types.named(request.type)
    scope = SearchScope(request.from_date, request.to_date, facets=facet_conditions(request.facets, chosen))
    scope = await with_known_values(services.reader, scope, chosen, types.owners)
    # a word that is excluded belongs to no title
    text = without_exclusions(request.q)
    if not words(text):
        return []
    [plan] = search_plans(request.q, chosen, None, scope)
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
    found = await find_candidates(services.reader, arms, vector=vector, depth=DEPTH, reads_english_alone=is_local)
    weight = (await services.tuned_settings()).records_semantic_weight
    return [each.key for each in fuse_types(found, weight)]


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
                seen=Literal(arm.type.seen),
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
    seen: set[str] = set()
    for each in texts:
        if (title := each.title.casefold()) not in seen:
            seen.add(title)
            yield each
