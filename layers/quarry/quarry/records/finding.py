"""Finding records for a query: the plans of the search, its candidates, and one ranked list over all types.

Each type is searched in both halves, words and meaning, in one statement. The scores of the halves mean the same in every
type, so one list over all types is fused from them here.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import attrgetter
from typing import Literal

from quarry.agent.sources import DataAccess
from quarry.collections.collection import ENGLISH
from quarry.language.messages import gettext, ngettext
from quarry.language.word_forms import STOP_WORDS
from quarry.platform.off_loop import off_loop
from quarry.platform.settings import LOCAL_EMBEDDING_MODEL
from quarry.platform.text import is_in_other_script, placed_words, significant_words, words
from quarry.postgres.pool import Database
from quarry.query.filters import denies
from quarry.records.contract import RecordKey, RecordType, Source
from quarry.records.reading import (
    EVERYTHING,
    RecordsReading,
    SearchScope,
    types_with,
    without_exclusions,
    words_to_look_up,
)
from quarry.records.retrieval import (
    EvidenceSource,
    NumberedSources,
    RankedRecord,
    RecordCandidate,
    RecordText,
    TypeSearch,
    dates_of,
    describe,
    find_candidates,
    ids_meeting,
    with_fitting,
    word_tables,
)
from quarry.records.sources import RecordTypes, SearchedType
from quarry.retrieval.fusion import SEMANTIC_WEIGHT, Method, Scored, fuse
from quarry.runs.run_log import Run
from quarry.schema.algebra import Comparison, Condition
from quarry.schema.source import DATE
from quarry.services.services import Caller, Services

FORM_MIN, PART_MIN, TAIL_MIN = 6, 3, 2
"""The least letters of a compound and of a part; of the part behind a hyphen, too ("follow-up")."""
WORDS_MAX = 24
APART_MAX = 4
"""Words without a record that are read as two."""


async def respelt(query: str, types: Sequence[SearchedType], database: Database) -> Mapping[str, str]:
    """The compounds of a query as the records write them, by how the query does. Raises DatabaseUnavailable."""
    placed = [each for each in placed_words(query) if each[0].isalpha()][:WORDS_MAX]
    pairs = {
        query[start:end]: one + two
        for (one, start, until), (two, begin, end) in pairwise(placed)
        if query[until:begin] == " " and one not in STOP_WORDS and len(one + two) >= FORM_MIN
    }
    long = {query[start:end]: word for word, start, end in placed if len(word) >= FORM_MIN}
    parts = {part.lower() for each in pairs for part in each.split()}
    existing = await _existing_forms({*pairs.values(), *long.values(), *parts}, types, database)
    forms_by_text = {
        # where both parts are written too, either may be meant
        each: f"{each} {one}" if existing.issuperset(each.lower().split()) else one
        for each, one in pairs.items()
        if one in existing
    }
    missing = [each for each, word in long.items() if word not in existing][:APART_MAX]
    forms = {each: [*_apart(each.lower())] for each in missing}
    if forms:
        existing = await _existing_forms({form for each in forms.values() for form in each}, types, database)
        forms_by_text |= {
            each: both[0] for each, apart in forms.items() if (both := [form for form in apart if form in existing])
        }
    return forms_by_text


def with_forms(text: str, forms: Mapping[str, str]) -> str:
    """A text with these forms for its own."""
    for own, form in forms.items():
        text = text.replace(own, form)
    return text


def _apart(word: str) -> Iterator[str]:
    """A word as two, the most even parts first."""
    for place in sorted(range(PART_MIN, len(word) - TAIL_MIN + 1), key=lambda place: abs(2 * place - len(word))):
        one, two = word[:place], word[place:]
        yield f"{one}-{two}"
        if len(two) >= PART_MIN and not {one, two} & STOP_WORDS:
            yield f"{one} {two}"


async def _existing_forms(forms: set[str], types: Sequence[SearchedType], database: Database) -> set[str]:
    """The forms whose words a record holds all."""
    existing: set[str] = set()
    for language in dict.fromkeys(language for each in types for language in each.languages):
        tables, conditions = word_tables(each for each in types if language in each.languages)
        rows = await database.rows(
            "select forms_held(%(tables)s, %(forms)s, %(language)s::regconfig, %(seen)s) as held",
            {"tables": tables, "forms": sorted(forms - existing), "language": language, "seen": conditions},
        )
        existing.update(rows[0]["held"])
    return existing


DEPTH = 100
"""Candidates of each type by words, and as many by meaning. Deeper pages are empty."""
FIRST_SOURCES = 8
POOL_RECORDS = 24


@dataclass(frozen=True)
class Searched:
    """The records that a search found, best first, and those that became sources."""

    ranked: Sequence[RankedRecord]
    sources: Sequence[EvidenceSource]
    is_beside: bool = False
    """Whether none of them is of the days that the question asks about."""
    forms: Mapping[str, str] = field(default_factory=dict)
    """Compounds of the query as the records write them."""

    @property
    def summary(self) -> str:
        return summary(len(self.ranked), self.sources, is_all=not is_cut_off(self.ranked))


@dataclass
class SearchToolset:
    """The searches of one answer among `types`, those of `record_types` that the request allows, and what they found. `access`
    has all sources, and `scope` says which records are searched at all. `reading` is how the question was read, None where a
    model reads it; `pool` holds the records found, sources or not.
    """

    services: Services
    caller: Caller
    run: Run
    types: Sequence[SearchedType]
    record_types: RecordTypes
    access: DataAccess
    reading: RecordsReading | None = None
    scope: SearchScope = EVERYTHING
    evidence: NumberedSources = field(default_factory=NumberedSources)
    pool: dict[tuple[RecordType, str], RecordText] = field(default_factory=dict)

    @property
    def reading_by_rule(self) -> RecordsReading:
        """How the question was read, where no model reads it."""
        assert self.reading is not None
        return self.reading

    async def search(self, query: str) -> Searched:
        """Search for the question. The best FIRST_SOURCES become sources."""
        candidates = await gather_candidates(
            query, self.types, self.services, self.run, reading=self.reading, scope=self.scope
        )
        ranked = await rank_candidates(candidates, self.services, self.reading)
        authors = self.reading.authors if self.reading is not None else frozenset[str]()
        # what the people asked about said themselves comes first
        texts = sorted(await self.with_texts(ranked, query), key=lambda each: each[1].author not in authors)
        return Searched(
            ranked, self.evidence.add(varied(texts)[:FIRST_SOURCES]), candidates.plan.is_beside, candidates.forms
        )

    async def with_texts(self, ranked: Sequence[RankedRecord], query: str) -> list[tuple[RankedRecord, RecordText]]:
        """The best of the ranked records with their texts, which `pool` keeps."""
        looked_at = ranked[:POOL_RECORDS]
        texts = await describe(self.services.reader, [item.key for item in looked_at], self.record_types, query)
        self.pool |= texts
        return [(item, texts[item.key]) for item in looked_at if item.key in texts]

    async def changed(self, sources: Sequence[Source]) -> set[RecordKey]:
        """The sources whose text has changed since it was read, or was out of date on a replica."""
        keys = {(each.type, each.id) for each in sources}
        texts = [source.text for source in self.evidence.sources if source.text.key in keys]
        now = await describe(self.services.database, [text.key for text in texts], self.record_types)
        return {
            text.key
            for text in texts
            if text.key not in now or replace(now[text.key], snippet="") != replace(text, snippet="")
        }


async def rank_records(
    query: str,
    types: Sequence[SearchedType],
    services: Services,
    run: Run,
    scope: SearchScope = EVERYTHING,
) -> list[RankedRecord]:
    """All candidates over `types` for the words of a query, fused, best first. One without a word that carries meaning finds
    nothing.
    """
    return await rank_candidates(await gather_candidates(query, types, services, run, scope=scope), services, None)


async def rank_candidates(
    candidates: PlanCandidates,
    services: Services,
    reading: RecordsReading | None,
    ranking: Literal["scores", "seed"] = "scores",
) -> list[RankedRecord]:
    """The candidates, best first. The ranking `seed` uses reciprocal ranks and nothing else."""
    weight = (await services.tuned_settings()).records_semantic_weight
    if ranking == "seed":
        return await off_loop(fuse_types, candidates.candidates, weight, "reciprocal_rank")
    ranked = await off_loop(fuse_types, candidates.candidates, weight)
    if reading is None or not reading.asks_for_latest:
        return ranked
    near = [item.key for item in near_the_best(ranked)]
    return latest_first(ranked, await dates_of(services.reader, near, reading.types))


def varied(texts: Sequence[tuple[RankedRecord, RecordText]]) -> list[tuple[RankedRecord, RecordText]]:
    """The same records, with more than three of a type moved behind the others, so that one type does not crowd out the rest."""
    first: list[tuple[RankedRecord, RecordText]] = []
    later: list[tuple[RankedRecord, RecordText]] = []
    numbers: dict[RecordType, int] = {}
    for item in texts:
        name = item[1].type
        numbers[name] = numbers.get(name, 0) + 1
        (first if numbers[name] <= 3 else later).append(item)
    return first + later


def summary(count: int, sources: Sequence[EvidenceSource], *, is_all: bool = True) -> str:
    """One line about what a search found. There may be more unless it `is_all`."""
    if not count:
        return gettext("Nothing found")
    size = ngettext("{number} record found", "{number} records found", count)
    if not is_all:
        size = ngettext("At least {number} record found", "At least {number} records found", count)
    numbers = ", ".join(f"[{source.n}]" for source in sources)
    return gettext("{found}; kept {sources}", found=size, sources=numbers) if numbers else size


def is_cut_off(ranked: Sequence[RankedRecord]) -> bool:
    """Whether there may be more records than are ranked: a half of the search gave as many of one type as it can."""
    by_words = Counter([item.key[0] for item in ranked if item.text_rank is not None])
    by_meaning = Counter([item.key[0] for item in ranked if item.semantic_rank is not None])
    return max([*by_words.values(), *by_meaning.values()], default=0) >= DEPTH


@dataclass(frozen=True)
class PlanCandidates:
    """Candidates in no order, and the plan that found them."""

    plan: SearchPlan
    candidates: Sequence[RecordCandidate] = ()
    forms: Mapping[str, str] = field(default_factory=dict)
    """Compounds of the query as the records write them, see `compounds`."""


async def gather_candidates(
    query: str,
    types: Sequence[SearchedType],
    services: Services,
    run: Run,
    *,
    reading: RecordsReading | None = None,
    scope: SearchScope = EVERYTHING,
) -> PlanCandidates:
    """The candidates of the first plan that finds any."""
    text = without_exclusions(query)
    if not words(text):
        return PlanCandidates(SearchPlan(()))
    if not significant_words(text):
        # stop words of English may carry meaning in another language
        types = [each for each in types if {*each.languages} - {None, ENGLISH}]
    if not types:
        return PlanCandidates(SearchPlan(()))
    reads_english_alone = services.embeddings.name == LOCAL_EMBEDDING_MODEL
    # a vector has no "not": excluded words would draw it nearer; a model of English has no words for other scripts
    by_meaning = not (reads_english_alone and is_in_other_script(text))
    is_plain = text == query and '"' not in query
    vector = await services.queries.embed_for(run, text) if by_meaning else None
    gathered = PlanCandidates(SearchPlan(()))
    with run.step("retrieve") as record:
        forms = await respelt(query, types, services.reader) if is_plain else {}
        # planning a long question would hold the event loop too long
        for plan in await off_loop(list, search_plans(query, types, reading, scope)):
            arms = await with_fitting(services.reader, plan.arms)
            candidates = await find_candidates(
                services.reader,
                [arm._replace(query=with_forms(arm.query, forms)) for arm in arms],
                vector=vector,
                depth=DEPTH,
                is_strict=scope.is_strict,
                reads_english_alone=reads_english_alone,
            )
            listed = await ids_meeting(services.reader, plan.listed, DEPTH)
            candidates += [RecordCandidate(name, id, 0.0, None) for name, ids in listed.items() for id in ids]
            gathered = PlanCandidates(replace(plan, arms=arms), candidates, forms)
            if any(map(may_be_ranked, candidates)):
                break
        record.counts["candidates"] = len(gathered.candidates)
    return gathered


# ---- plans ----


@dataclass(frozen=True)
class SearchPlan:
    """The searches to make. Of the types in `listed` all records that meet the conditions are found, whatever their words."""

    arms: Sequence[TypeSearch]
    listed: Mapping[SearchedType, Sequence[Condition]] = field(default_factory=dict)
    is_beside: bool = False
    """Whether it leaves out the days that the question asks about."""


def search_plans(
    query: str,
    types: Sequence[SearchedType],
    reading: RecordsReading | None,
    scope: SearchScope = EVERYTHING,
) -> Iterator[SearchPlan]:
    """The plans for `query` among `types`. Each is tried if those before it find nothing.

    Dates of the request replace those of the question; its facets hold beside the question's. Types without a required facet
    are left out. Where conditions must hold, the types that the question names come first.
    """
    required_conditions = scope.required_conditions
    types = types_with(scope.facets, types)
    looked_up = words_to_look_up(query)
    everything = [TypeSearch(each, looked_up, required_conditions) for each in types]
    # a question that only says which records are meant gives nothing to rank them by
    lists_all = reading is not None and reading.lists(required_conditions)
    if reading is not None and (reading.conditions or lists_all):
        words = words_to_look_up(reading.words) if reading.words else looked_up
        conditions = {
            each: [*required_conditions, *besides(own_conditions, scope)]
            for each in types
            if (own_conditions := reading.conditions_for(each.table)) is not None
        }
        if not reading.must_hold:
            apart = [TypeSearch(each, words, met, is_apart=True) for each, met in conditions.items()]
            yield SearchPlan([*everything, *apart])
            return
        of_named_types = {each: met for each, met in conditions.items() if each.name in reading.named_types}
        for conditions_by_type in (of_named_types, conditions):
            if conditions_by_type:
                arms = [TypeSearch(each, words, met) for each, met in conditions_by_type.items()]
                yield SearchPlan(arms, conditions_by_type if lists_all else {})
        if not lists_all and (
            rows := {each: met for each, met in of_named_types.items() if each.collection is not None}
        ):
            # its other words may not stand in the records: "a class B licence" where it is `licence: B`
            yield SearchPlan((), rows)
    yield SearchPlan(everything, is_beside=reading is not None and reading.is_dated and not scope.dated)


def besides(conditions: Sequence[Condition], scope: SearchScope) -> list[Condition]:
    """The conditions of a question to use together with the filters: dates of the request replace those of the question."""
    if not scope.dated:
        return [*conditions]
    return [each for each in conditions if not isinstance(each, Comparison) or each.field != DATE or denies(each)]


# ---- ranking ----

SIMILARITY_MIN = 0.2
"""A record below this similarity (cosine) does not count as found by meaning: some record is always nearest."""
APART_WEIGHT = 0.5
"""The gain, as a share of its score, of a record that meets the question's conditions."""
DATED_MAX = 20
"""Where the latest is asked for, this many of the first records may gain by their dates,"""
DATED_SHARE = 0.5
"""if they have this share of the best score: a late record about something else is not meant."""
RECENCY_WEIGHT = 0.25
"""The gain of the latest of them, as a share of its score. The earliest gains nothing."""


def fuse_types(
    candidates: Sequence[RecordCandidate], semantic_weight: float = SEMANTIC_WEIGHT, method: Method = "scores"
) -> list[RankedRecord]:
    """One list of the candidates of all types, whose scores are comparable; those found apart are lifted.

    By another method than "scores" it is that formula and no more: nothing is lifted, nor listed for being found apart.
    """
    if method != "scores":
        candidates = [item for item in candidates if not item.is_apart]
    by_key: dict[RecordKey, list[RecordCandidate]] = {}
    for candidate in candidates:
        by_key.setdefault((candidate.type, candidate.id), []).append(candidate)
    # a record has the best scores of its searches
    scored = [
        Scored(
            key,
            max([each.text_score for each in same if each.text_score is not None], default=None),
            max([cosine for each in same if (cosine := each.similarity or 0.0) >= SIMILARITY_MIN], default=None),
        )
        for key, same in by_key.items()
    ]
    ranked = fuse(scored, method=method, semantic_weight=semantic_weight)
    if method != "scores":
        return ranked
    # types without vectors are ranked by words alone
    by_words = {(each.type, each.id): each.text_score or 0.0 for each in candidates if each.by_words_alone}
    ranked = [item._replace(score=by_words.get(item.key, item.score)) for item in ranked]
    apart = {(each.type, each.id) for each in candidates if each.is_apart}
    lifted = [item._replace(score=item.score * (1 + APART_WEIGHT)) if item.key in apart else item for item in ranked]
    return sorted(lifted, key=attrgetter("score"), reverse=True)


def may_be_ranked(candidate: RecordCandidate) -> bool:
    """Whether it holds a word of the query, or is near enough in meaning."""
    return candidate.text_score is not None or (candidate.similarity or 0.0) >= SIMILARITY_MIN


def near_the_best(ranked: Sequence[RankedRecord]) -> list[RankedRecord]:
    """The first records that may gain by their dates."""
    return [item for item in ranked[:DATED_MAX] if item.score >= DATED_SHARE * ranked[0].score]


def latest_first(ranked: Sequence[RankedRecord], dates: Mapping[RecordKey, datetime.date]) -> list[RankedRecord]:
    """The list with the records of `dates` lifted by the rank of their dates."""
    days = sorted(set(dates.values()))
    gain = {day: RECENCY_WEIGHT * place / max(1, len(days) - 1) for place, day in enumerate(days)}
    lifted = [
        item._replace(score=item.score * (1 + gain[dates[item.key]])) if item.key in dates else item for item in ranked
    ]
    return sorted(lifted, key=attrgetter("score"), reverse=True)
