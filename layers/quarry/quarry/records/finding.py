"""Finding records for a query: the plans of the search, its candidates, and one ranked list over all types.

Each type is searched in both halves, words and meaning, in one statement. The scores of the halves mean the same in every
type, so one list over all types is fused from them here.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from quarry.collections.collection import ENGLISH
from quarry.collections.search_table import DATE
from quarry.platform.off_loop import off_loop
from quarry.platform.setting_fields import LOCAL_EMBEDDING_MODEL
from quarry.platform.text import significant_words, words
from quarry.query.algebra import Comparison, Condition
from quarry.query.of_table import denies
from quarry.records.contract import RecordKey, RecordType, Source
from quarry.records.evidence import Candidate, Evidence, EvidenceSource, RankedRecord, RecordText
from quarry.records.reading import RecordsReading, without_exclusions, words_to_look_up
from quarry.records.retrieval import Arm, dates_of, describe, find_candidates, ids_meeting
from quarry.records.scope import EVERYTHING, Scope, types_with
from quarry.records.searched_types import SearchedType
from quarry.retrieval.fusion import SEMANTIC_WEIGHT, Method, Scored, fuse
from quarry.runs.run_log import Run
from quarry.services.services import Caller, Services

DEPTH = 100
"""Candidates of each type by words, and by meaning. Deeper pages than these hold nothing."""
FIRST_SOURCES = 8
POOL_RECORDS = 24


@dataclass(frozen=True)
class Searched:
    """All that a search found, best first, and what of it was taken as sources."""

    ranked: Sequence[RankedRecord]
    sources: Sequence[EvidenceSource]

    @property
    def summary(self) -> str:
        return summary(len(self.ranked), self.sources, is_all=not is_cut_off(self.ranked))


@dataclass
class SearchToolset:
    """The searches of one answer, and what they found. `reading` is what the question asks beside its words, `scope` what of the
    records is searched at all; `pool` holds what was found but is not a source.
    """

    services: Services
    caller: Caller
    run: Run
    types: Sequence[SearchedType]
    reading: RecordsReading
    scope: Scope = EVERYTHING
    evidence: Evidence = field(default_factory=Evidence)
    pool: dict[tuple[RecordType, str], RecordText] = field(default_factory=dict)

    async def search(self, query: str) -> Searched:
        """Search for the question itself; the best FIRST_SOURCES become sources."""
        ranked = await rank_records(query, self.types, self.services, self.run, reading=self.reading, scope=self.scope)
        return Searched(ranked, self.evidence.add(varied(await self.found(ranked, query))[:FIRST_SOURCES]))

    async def found(self, ranked: Sequence[RankedRecord], query: str) -> list[tuple[RankedRecord, RecordText]]:
        """The best of what was ranked, with their texts; `pool` keeps these."""
        looked_at = ranked[:POOL_RECORDS]
        texts = await describe(self.services.reader, [item.key for item in looked_at], self.reading.types, query)
        by_key = {text.key: text for text in texts}
        found = [(item, by_key[item.key]) for item in looked_at if item.key in by_key]
        self.pool |= {text.key: text for _, text in found}
        return found

    async def changed(self, sources: Sequence[Source]) -> set[RecordKey]:
        """Those of the sources that say something else by now, or did when a replica that was behind was read."""
        keys = {(each.type, each.id) for each in sources}
        texts = [source.text for source in self.evidence.sources if source.text.key in keys]
        texts_now = await describe(self.services.database, [text.key for text in texts], self.reading.types, "")
        now = {text.key: replace(text, snippet="") for text in texts_now}
        return {text.key for text in texts if now.get(text.key) != replace(text, snippet="")}


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
    return await rank_found(found, services, reading)


async def rank_found(
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


# ---- plans ----


@dataclass(frozen=True)
class SearchPlan:
    """The searches to make. `listed` are types of which records are found for meeting the clauses, however far from the question
    in their words.
    """

    arms: Sequence[Arm]
    listed: Mapping[SearchedType, Sequence[Condition]] = field(default_factory=dict)


def search_plans(
    query: str,
    types: Sequence[SearchedType],
    reading: RecordsReading | None,
    scope: Scope = EVERYTHING,
) -> Iterator[SearchPlan]:
    """The plans for `query` among `types`, each for the case that those before it find nothing.

    Dates that are given hold above what the question says of dates, facets beside it; without `reading` it says nothing. Where
    conditions must hold, types that cannot tell one are left out, and others than those asked for by name come after these.
    """
    given = scope.given
    types = types_with(scope.facets, types)
    looked_up = words_to_look_up(query)
    everything = [Arm(each, looked_up, given) for each in types]
    # where nothing is said but which records are meant, there is nothing that they could be ranked by
    lists_all = reading is not None and reading.lists(given)
    if reading is not None and (reading.conditions or lists_all):
        words = words_to_look_up(reading.words) if reading.words else looked_up
        conditions = {
            each: [*given, *besides(said, scope)]
            for each in types
            if (said := reading.conditions_for(each.table)) is not None
        }
        if not reading.must_hold:
            apart = [Arm(each, words, held, is_apart=True) for each, held in conditions.items()]
            yield SearchPlan([*everything, *apart])
            return
        named = {each: held for each, held in conditions.items() if each.name in reading.named}
        for chosen in (named, conditions):
            if chosen:
                arms = [Arm(each, words, held) for each, held in chosen.items()]
                yield SearchPlan(arms, chosen if lists_all else {})
        if not lists_all and (rows := {each: held for each, held in named.items() if each.table.reckons}):
            # what else is said of them may be no word of theirs: "a class B licence" where it is `licence: B`
            yield SearchPlan((), rows)
    yield SearchPlan(everything)


def besides(conditions: Sequence[Condition], scope: Scope) -> list[Condition]:
    """The conditions of a question that hold beside what is given: where days are, all but those of spans of days."""
    return [each for each in conditions if not (scope.dated and _is_span(each))]


def _is_span(condition: Condition) -> bool:
    return isinstance(condition, Comparison) and condition.field == DATE and not denies(condition)


# ---- ranking ----

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
