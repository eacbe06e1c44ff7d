"""Records search: one ranked list over all types.

Each type is searched in both halves, words and meaning, in one statement. The scores of the halves mean the same in every
type, so one list over all types is fused from them here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from quarry.collections.collection import ENGLISH
from quarry.platform.off_loop import off_loop
from quarry.platform.setting_fields import LOCAL_EMBEDDING_MODEL
from quarry.platform.snippet import mark
from quarry.platform.text import significant_words, words
from quarry.postgres.pool import Database
from quarry.query.filtered import Filtered
from quarry.records.candidates import Candidate, RecordKey, RecordText
from quarry.records.contract import Matched, RecordType, Result, SameRecord, SearchRequest, SearchResponse
from quarry.records.filters import facet_clauses
from quarry.records.intent import classify_intent, without_exclusions
from quarry.records.ranking import RankedRecord, fuse_types, latest_first, may_be_ranked, near_the_best
from quarry.records.reading import RecordsReading, read_records
from quarry.records.record_texts import dates_of, describe, what_they_say
from quarry.records.retrieval import (
    EVERYTHING,
    Count,
    Scope,
    count_found,
    find_candidates,
    ids_meeting,
    with_known_values,
)
from quarry.records.search_plan import SearchPlan, search_plans
from quarry.records.searched_types import RecordTypes, SearchedType
from quarry.records.types_in_force import acting_for
from quarry.records.unreadable import over_readable
from quarry.retrieval.fusion import fold
from quarry.runs.run_log import ResultRecord, Run
from quarry.services.services import Caller, Services

DEPTH = 100
"""Candidates of each type by words, and by meaning. Deeper pages than these hold nothing."""

FOLDED = 100
"""So many records, the best, are looked at for those that say nearly the same."""

COUNTED_MAX = 10_000
"""So many records of a type are counted exactly."""


async def search_records(
    request: SearchRequest, caller: Caller, services: Services, request_id: str | None = None
) -> SearchResponse:
    """The ranked list for a query. Raises InvalidInput for a type that there is not and a facet that no searched type has,
    SourceUnavailable where no searched collection can be read, and DatabaseUnavailable; a failing embedding model only degrades.
    """
    types, services = await acting_for(caller, services)
    facet_clauses(request.facets, types.whole.named(request.type))
    with services.run("records", caller, request.q, request.as_asked(), request_id=request_id) as run:
        response = await over_readable(types, services.memory, partial(_searched, request, caller, services, run))
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
    scope = Scope(request.from_date, request.to_date, request.must, facet_clauses(request.facets, chosen))
    scope = await with_known_values(services.reader, scope, chosen, types.owners)
    reading = await read_records(caller, services, types, request.q, request.type)
    found = await gather_candidates(request.q, chosen, services, run, reading=reading, scope=scope)
    ranked = await _ranked(found, services, reading, request.ranking)
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
    by_key = {text.key: text for text in texts}
    return SearchResponse(
        query=request.q,
        intent=classify_intent(request.q),
        results=[_result(same, by_key) for same in page if same[0].key in by_key],
        counts={each.name: counts[each.name].rows if each.name in counts else 0 for each in chosen},
        more=bool(capped),
        capped=capped or None,
        degraded=[*run.degraded, *types.degraded(request.type)],
    )


async def rank_records(
    query: str,
    types: Sequence[SearchedType],
    services: Services,
    run: Run,
    *,
    reading: RecordsReading | None = None,
    scope: Scope = EVERYTHING,
) -> list[RankedRecord]:
    """All candidates over `types`, fused, best first. A query without a word that carries meaning finds nothing.

    `reading` is what the query asks beside its words; it is None where the query is to be taken for words alone.
    """
    found = await gather_candidates(query, types, services, run, reading=reading, scope=scope)
    return await _ranked(found, services, reading)


async def _ranked(
    found: Found,
    services: Services,
    reading: RecordsReading | None,
    ranking: Literal["scores", "seed"] = "scores",
) -> list[RankedRecord]:
    """What was found, best first; by the seed's formula nothing else counts."""
    weight = (await services.tuned.read()).records_semantic_weight
    if ranking == "seed":
        return await off_loop(fuse_types, found.candidates, weight, "reciprocal_rank")
    ranked = await off_loop(fuse_types, found.candidates, weight)
    if reading is None or not reading.asks_for_latest:
        return ranked
    near = [item.key for item in near_the_best(ranked)]
    return latest_first(ranked, await dates_of(services.reader, near, reading.types))


def is_cut_off(ranked: Sequence[RankedRecord]) -> bool:
    """Whether more records may be found than are ranked: of some type there are as many as a half of the search gives."""
    by_words = Counter(item.key[0] for item in ranked if item.text_rank is not None)
    by_meaning = Counter(item.key[0] for item in ranked if item.semantic_rank is not None)
    return max([*by_words.values(), *by_meaning.values()], default=0) >= DEPTH


@dataclass(frozen=True)
class Found:
    """What there is to be ranked, in no order, and the plan that found it."""

    plan: SearchPlan
    candidates: Sequence[Candidate] = ()


async def gather_candidates(
    query: str,
    types: Sequence[SearchedType],
    services: Services,
    run: Run,
    *,
    reading: RecordsReading | None = None,
    scope: Scope = EVERYTHING,
) -> Found:
    """What `rank_records` ranks."""
    asked = without_exclusions(query)
    if not words(asked):
        return Found(SearchPlan(()))
    if not significant_words(asked):
        # what says nothing in English may say something in another language
        types = [each for each in types if {*each.languages} - {None, ENGLISH}]
    if not types:
        return Found(SearchPlan(()))
    # a vector has no "not": what is excluded would draw nearer
    vector = await services.queries.embed_for(run, asked)
    found = Found(SearchPlan(()))
    with run.step("retrieve") as record:
        # a long question takes as long as a request may hold the event loop
        for plan in await off_loop(list, search_plans(query, types, reading, scope)):
            candidates = await find_candidates(
                services.reader,
                plan.arms,
                vector=vector,
                depth=DEPTH,
                is_strict=scope.is_strict,
                reads_english_alone=services.embeddings.name == LOCAL_EMBEDDING_MODEL,
            )
            listed = await ids_meeting(services.reader, plan.listed, DEPTH)
            candidates += [Candidate(name, id, 0.0, None) for name, ids in listed.items() for id in ids]
            found = Found(plan, candidates)
            if any(map(may_be_ranked, candidates)):
                break
        record.counts["candidates"] = len(found.candidates)
    return found


async def _counts(
    database: Database, found: Found, ranked: Sequence[RankedRecord], scope: Scope
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
    for each, clauses in found.plan.listed.items():
        counts[each.name] = Count.up_to(COUNTED_MAX, await Filtered(each.table, clauses).count(database))
    return counts


async def _folded(
    ranked: Sequence[RankedRecord], found: Found, types: RecordTypes, services: Services
) -> list[list[RankedRecord]]:
    """The list with those of the first that say nearly the same at the place of the best of them. What it holds depends on no
    page, so that pages fit together. What meets the question's conditions and what does not is not the same.
    """
    first = ranked[:FOLDED]
    said = await what_they_say(services.reader, [item.key for item in first], types)
    apart = {each.key for each in found.candidates if each.is_apart}
    groups = await off_loop(_groups_of, [item.key for item in first], said, apart)
    return [[first[place] for place in group] for group in groups] + [[item] for item in ranked[FOLDED:]]


def _groups_of(
    keys: Sequence[RecordKey], said: Mapping[RecordKey, str], apart: Container[RecordKey]
) -> list[list[int]]:
    halves = [[place for place, key in enumerate(keys) if (key in apart) is meets] for meets in (True, False)]
    return sorted(
        [half[place] for place in group]
        for half in halves
        for group in fold([said.get(keys[place], "") for place in half])
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
