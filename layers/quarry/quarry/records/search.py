"""Records search: one ranked list over all types.

Each type is searched in both halves, words and meaning, in one statement. The scores of the halves mean the same in every
type, so one list over all types is fused from them here.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from quarry.collections.collection import ENGLISH
from quarry.platform.off_loop import off_loop
from quarry.platform.setting_fields import LOCAL_EMBEDDING_MODEL
from quarry.platform.text import mark, significant_words, words
from quarry.postgres.pool import Database
from quarry.query.of_table import Filtered
from quarry.records.contract import Matched, RecordKey, RecordType, Result, SameRecord, SearchRequest, SearchResponse
from quarry.records.evidence import Candidate, EvidenceSource, RankedRecord, RecordText
from quarry.records.reading import RecordsReading, classify_intent, read_records, without_exclusions
from quarry.records.retrieval import Count, count_found, dates_of, describe, find_candidates, ids_meeting, what_they_say
from quarry.records.scope import EVERYTHING, Scope, SearchPlan, facet_conditions, search_plans, with_known_values
from quarry.records.searched_types import RecordTypes, SearchedType
from quarry.records.sources import acting_for, over_readable
from quarry.retrieval.fusion import SEMANTIC_WEIGHT, Method, Scored, fold, fuse
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
    facet_conditions(request.facets, types.whole.named(request.type))
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
    scope = Scope(request.from_date, request.to_date, request.must, facet_conditions(request.facets, chosen))
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


def varied(found: Sequence[tuple[RankedRecord, RecordText]]) -> list[tuple[RankedRecord, RecordText]]:
    """The same records, a type that already has three of them put behind the others: one kind must not crowd out the rest."""
    first: list[tuple[RankedRecord, RecordText]] = []
    later: list[tuple[RankedRecord, RecordText]] = []
    seen: dict[RecordType, int] = {}
    for item in found:
        name = item[1].type
        seen[name] = seen.get(name, 0) + 1
        (first if seen[name] <= 3 else later).append(item)
    return first + later


def summary(count: int, sources: Sequence[EvidenceSource], *, is_all: bool = True) -> str:
    """A line for people about what a search found; there may be more where that is not all."""
    if not count:
        return "Nothing found"
    kept = f"; kept {', '.join(f'[{source.n}]' for source in sources)}" if sources else ""
    return f"{'' if is_all else 'At least '}{count} record{'' if count == 1 else 's'} found{kept}"


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
    for each, conditions in found.plan.listed.items():
        counts[each.name] = Count.up_to(COUNTED_MAX, await Filtered(each.table, conditions).count(database))
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


SIMILARITY_MIN = 0.2
"""A record less similar than this (cosine) was not found by its meaning: something is always nearest."""
APART_WEIGHT = 0.5
"""What a record's score gains, as a share of it, by meeting the question's conditions."""
DATED_MAX = 20
"""Where the latest is asked for, so many of the first records may gain by their dates,"""
DATED_SHARE = 0.5
"""those that have this share of the best score: what is less about it is not asked for, however late."""
RECENCY_WEIGHT = 0.25
"""What the latest of them gains, as a share of its score; the earliest gains nothing."""


def fuse_types(
    candidates: Sequence[Candidate], semantic_weight: float = SEMANTIC_WEIGHT, method: Method = "scores"
) -> list[RankedRecord]:
    """One list out of the candidates of all types, whose scores mean the same in each; those found apart are lifted.

    By another method than "scores" it is that formula and no more: nothing is lifted, nor listed for being found apart.
    """
    if method != "scores":
        candidates = [item for item in candidates if not item.is_apart]
    by_key = _by_key(candidates)
    found = [_of_one_record(key, same) for key, same in by_key.items()]
    apart = {item.key for item in candidates if item.is_apart}
    halves = {item.key: item for item in found}
    by_words = {item.key: item.text_score or 0.0 for item in candidates if item.by_words_alone}
    ranked = [
        RankedRecord(
            item.key,
            item.score,
            item.text_rank,
            item.semantic_rank,
            halves[item.key].similarity,
        )
        for item in fuse(found, method=method, semantic_weight=semantic_weight)
    ]
    if method != "scores":
        return ranked
    # of what could not be found by its meaning, words weigh all
    ranked = [replace(item, score=by_words.get(item.key, item.score)) for item in ranked]
    lifted = [replace(item, score=item.score * (1 + APART_WEIGHT)) if item.key in apart else item for item in ranked]
    return sorted(lifted, key=lambda item: -item.score)


def may_be_ranked(candidate: Candidate) -> bool:
    """Whether anything speaks for it: a word of the query, or a meaning that is not far off."""
    return candidate.text_score is not None or (candidate.similarity or 0.0) >= SIMILARITY_MIN


def near_the_best(ranked: Sequence[RankedRecord]) -> list[RankedRecord]:
    """The first records that may gain by their dates."""
    return [item for item in ranked[:DATED_MAX] if item.score >= DATED_SHARE * ranked[0].score]


def latest_first(ranked: Sequence[RankedRecord], dates: Mapping[RecordKey, datetime.date]) -> list[RankedRecord]:
    """The list with those of `dates` lifted, by the place of the date of each among all of these."""
    days = sorted(set(dates.values()))
    gain = {day: RECENCY_WEIGHT * place / max(1, len(days) - 1) for place, day in enumerate(days)}
    lifted = [
        replace(item, score=item.score * (1 + gain[dates[item.key]])) if item.key in dates else item for item in ranked
    ]
    return sorted(lifted, key=lambda item: -item.score)


def _by_key(candidates: Iterable[Candidate]) -> dict[RecordKey, list[Candidate]]:
    by_key: dict[RecordKey, list[Candidate]] = {}
    for item in candidates:
        by_key.setdefault(item.key, []).append(item)
    return by_key


def _of_one_record(key: RecordKey, found: Iterable[Candidate]) -> Scored[RecordKey]:
    """The best of what several searches say of one record."""
    texts = [item.text_score for item in found if item.text_score is not None]
    likenesses = [
        item.similarity for item in found if item.similarity is not None and item.similarity >= SIMILARITY_MIN
    ]
    return Scored(key, max(texts, default=None), max(likenesses, default=None))
