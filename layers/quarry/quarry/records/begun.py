"""An answer that has begun: what is asked, its searches and their sources, keeping it, and what to ask next. Every way of
answering needs these.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import Field

import quarry
from quarry.models.step import ModelStep, decide
from quarry.platform.budget import in_time
from quarry.platform.errors import TimeIsUp
from quarry.platform.lazy_model import LazyModel
from quarry.platform.links import plain_links
from quarry.platform.off_loop import off_loop
from quarry.platform.text import CleanText, shorten, significant_words
from quarry.postgres.failures import UNREADABLE
from quarry.records.answer_cache import AskedQuery, FinishedAnswer, KeptAnswer, Keys, digest, find_answer, store_answer
from quarry.records.contract import (
    AggregationEvent,
    AnswerChunkEvent,
    Applied,
    AskRequest,
    CitationsEvent,
    ConfidenceEvent,
    DoneEvent,
    FollowupsEvent,
    RecordKey,
    RecordType,
    Source,
    SourcesEvent,
)
from quarry.records.counts import counts_next
from quarry.records.evidence import Evidence, EvidenceSource, RankedRecord, RecordText
from quarry.records.extraction import Facts, called, question_about, topic
from quarry.records.prompts import followup_messages
from quarry.records.reading import RecordsReading, words_to_look_up
from quarry.records.retrieval import coverages, describe, latest_records
from quarry.records.scope import EVERYTHING, Arm, Conversation, Scope, types_with
from quarry.records.search import is_cut_off, rank_records, summary, varied
from quarry.records.searched_types import RecordTypes, SearchedType
from quarry.records.support import Support
from quarry.runs.run_log import ResultRecord, Run
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event

logger = logging.getLogger(__name__)

BROKEN_OFF = "\n\n*The answer broke off here. From the sources themselves:*\n\n"
SEARCH = "search"
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


@dataclass(frozen=True)
class Asked:
    """What is asked of the types that can be read: the request with the filters in force, the question in its conversation, and
    `told`, the types and filters that hold, in words.
    """

    types: RecordTypes
    request: AskRequest
    conversation: Conversation
    reading: RecordsReading
    scope: Scope
    told: Applied | None

    @property
    def left_out(self) -> list[RecordType]:
        """The collections that it asks for too, and that cannot be read."""
        return self.types.left_out(self.request.types)


@dataclass(frozen=True)
class Begun:
    """An answer whose first search is done. `facts` are what is known for sure without a model, where none leads."""

    asked: Asked
    caller: Caller
    toolset: SearchToolset
    first: Searched
    facts: Facts | None

    @property
    def conversation(self) -> Conversation:
        return self.asked.conversation

    @property
    def told(self) -> Applied | None:
        return self.asked.told

    @property
    def run(self) -> Run:
        return self.toolset.run

    @property
    def services(self) -> Services:
        return self.toolset.services

    @property
    def missing(self) -> str:
        """A sentence that names the collections that could not be searched; else empty."""
        names = ", ".join(self.asked.left_out)
        return f"\n\nNot searched, because it cannot be read at the moment: {names}." if names else ""

    def keys(self, *known: Any) -> Keys:
        """What the answer is kept by: all that it is made from before it is written, `known` included."""
        found, request = self.toolset.pool.values(), self.asked.request
        return Keys(
            digest(
                self.caller.user_id,
                # only the claims that decide which rows are found: others, such as a token's time, differ with each sign-in
                self.toolset.reading.types.settings(self.caller.claims),
                _asked(request),
                [turn.model_dump() for turn in request.recent_history],
                self.services.chat.name if self.services.chat else None,
                self.services.embeddings.name,
                quarry.__version__,
            ),
            digest([(text.type, text.id, text.title, text.body, text.date) for text in found], *known),
        )

    async def kept(self, keys: Keys) -> KeptAnswer | None:
        """A kept answer to the same question over the same records; none where that cannot be looked up."""
        if self.asked.request.fresh or self.asked.left_out:
            return None
        try:
            return await find_answer(self.services.database, keys)
        except UNREADABLE:
            return None

    async def _keep(self, finished: FinishedAnswer, keys: Keys | None) -> str | None:
        """The id under which the answer was stored; None when it could not be: the reader has it all the same."""
        try:
            return await store_answer(
                self.services.database,
                query=self.conversation.question,
                owner=self.caller.user_id,
                finished=finished,
                keys=keys,
                changed=await self._changed_since_read(finished.sources),
                lifetime_days=self.services.settings.answer_lifetime_days,
            )
        except UNREADABLE:
            logger.warning("an answer could not be stored")
            return None

    async def _changed_since_read(self, sources: Sequence[Source]) -> set[RecordKey]:
        """Those of the sources that say something else by now, or did when a replica that was behind was read."""
        keys = {(each.type, each.id) for each in sources}
        texts = [source.text for source in self.toolset.evidence.sources if source.text.key in keys]
        texts_now = await describe(self.services.database, [text.key for text in texts], self.toolset.reading.types, "")
        now = {text.key: replace(text, snippet="") for text in texts_now}
        return {text.key for text in texts if now.get(text.key) != replace(text, snippet="")}

    def sent(self, evidence: Sequence[EvidenceSource]) -> SourcesEvent:
        """The sources to send, noted in the run log with their weights."""
        self.run.results = [ResultRecord(*each.text.key, each.weight) for each in evidence]
        return SourcesEvent(sources=[each.to_source() for each in evidence])

    def given_again(
        self, kept: KeptAnswer, counted: AggregationEvent | None, trust: ConfidenceEvent
    ) -> Iterator[Event]:
        """The events of an answer that was given before, with the numbers that it rests on."""
        given, run = kept.finished, self.run
        run.end_reason, run.answer_id = "kept_answer", kept.id
        run.results = [ResultRecord(each.type, each.id, each.similarity or 0.0) for each in given.sources]
        yield SourcesEvent(sources=[*given.sources])
        if counted is not None:
            yield counted
        yield AnswerChunkEvent(chunk=given.answer)
        yield CitationsEvent(citations=[*given.citations], unsupported=[*given.unsupported])
        yield trust
        yield FollowupsEvent(questions=[*given.followups])
        yield self._done(kept.id, [], cached=True)

    async def ending(
        self,
        answer: str,
        evidence: Sequence[EvidenceSource],
        supported: Support,
        trust: ConfidenceEvent,
        followups: Callable[[], Awaitable[list[str]]],
        keys: Keys,
        queries: Sequence[AskedQuery] = (),
    ) -> AsyncGenerator[Event]:
        """The events behind the text of an answer that was made now, which is kept."""
        yield CitationsEvent(citations=[*supported.citations], unsupported=[*supported.unsupported])
        yield trust
        asked = await followups()
        yield FollowupsEvent(questions=asked)
        sources, run = [each.to_source() for each in evidence], self.run
        citations, unsupported = supported.citations, supported.unsupported
        finished = FinishedAnswer(answer, sources, asked, trust.level, citations, unsupported, queries)
        run.answer_id = await self._keep(finished, None if run.degraded else keys)
        run.end_reason = "answered" if sources or queries else "nothing_found"
        yield self._done(run.answer_id, run.degraded)

    def _done(self, answer_id: str | None, degraded: list[str], *, cached: bool = False) -> DoneEvent:
        return DoneEvent(
            answer_id=answer_id,
            cached=cached,
            topic_changed=self.conversation.topic_changed,
            degraded=degraded,
            applied=self.told,
        )


def _asked(request: AskRequest) -> dict[str, Any]:
    """What is asked, whatever the order in which types and values are named: any of them is meant."""
    asked = request.model_dump(mode="json", exclude={"fresh", "history"})
    facets = {name: sorted({*values}) for name, values in request.filters.facets.items()}
    return asked | {"types": sorted({*request.types}), "filters": asked["filters"] | {"facets": facets}}


class FollowupQuestions(LazyModel):
    """Questions that a reader of the answer is likely to ask next."""

    questions: list[CleanText] = Field(
        description="Two or three short questions, each answerable from the same records."
    )


FOLLOWUPS_MIN, FOLLOWUPS_MAX = 2, 3
FOLLOWUP_CHARACTERS_MAX = 200
FOLLOWUP_COVERAGE_MIN = 0.6
"""A follow-up is offered where a record holds this share of what it says: the others would lead nowhere."""


async def suggest_followups(conversation: Conversation, answer: str, toolset: SearchToolset, facts: Facts) -> list[str]:
    """Two or three questions that the records can answer; after a count, those of the type that was counted."""
    counted = facts.counted.filters.get("types", ()) if facts.counted else ()
    asked = counts_next(facts.counted, toolset.types, toolset.reading.types.counted) if facts.counted else []
    if len(asked) >= FOLLOWUPS_MIN:
        return asked[:FOLLOWUPS_MAX]
    sources, pool = _found(toolset, counted)
    if not sources or (facts.is_all and facts.counted is None):
        return followups_about(await _latest_records(toolset, counted))
    step: ModelStep[str, FollowupQuestions] = ModelStep(
        "records_followups",
        lambda text: followup_messages(conversation.question, text, [record.topic or record.title for record in pool]),
        FollowupQuestions,
        lambda _: questions_about(conversation.question, sources, pool),
    )
    decided = await decide(step, answer, toolset.run)
    is_models = toolset.run.chat is not None and step.name not in toolset.run.degraded
    questions = await _answered(decided.questions, toolset) if is_models else decided.questions
    return await _filled_up(questions, conversation.question, toolset, counted)


def _found(toolset: SearchToolset, types: Sequence[str]) -> tuple[list[EvidenceSource], list[RecordText]]:
    """The sources and all the records that were found, of these types or of any."""
    sources = [each for each in toolset.evidence.sources if not types or each.text.type in types]
    return sources, [each for each in toolset.pool.values() if not types or each.type in types]


async def models_followups(
    own: Sequence[str], conversation: Conversation, answer: str, toolset: SearchToolset, names: AbstractSet[str]
) -> list[str]:
    """Two or three questions that the records can answer: those that the model wrote with its answer where it did, else as
    `suggest_followups` gives them. One that speaks of a source or a field, by the stems of their `names`, can be queried.
    """
    if not own:
        return await suggest_followups(conversation, answer, toolset, Facts())
    held = await _answered(own, toolset)
    asked = [plain_links(shorten(question, FOLLOWUP_CHARACTERS_MAX)) for question in dict.fromkeys(own)]
    questions = [each for each in asked if each in held or not names.isdisjoint(significant_words(each))]
    return await _filled_up(questions, conversation.question, toolset)


async def _filled_up(
    questions: Sequence[str], question: str, toolset: SearchToolset, types: Sequence[str] = ()
) -> list[str]:
    """At most three of the questions, filled up to two with others that records of these types, or of any, can answer."""
    found = dict.fromkeys(questions)
    if len(found) < FOLLOWUPS_MIN:
        asked = await off_loop(questions_about, question, *_found(toolset, types))
        found |= dict.fromkeys(asked.questions)
    if len(found) < FOLLOWUPS_MIN:
        found |= dict.fromkeys(followups_about(await _latest_records(toolset, types)))
    return [*found][:FOLLOWUPS_MAX]


async def _answered(questions: Sequence[str], toolset: SearchToolset) -> list[str]:
    """Those that some record which is searched here holds most words of; none where that cannot be looked up in time."""
    asked = [plain_links(shorten(question, FOLLOWUP_CHARACTERS_MAX)) for question in dict.fromkeys(questions)]
    types = types_with(toolset.scope.facets, toolset.types)
    arms = [Arm(each, words_to_look_up(question), toolset.scope.given) for question in asked for each in types]
    try:
        async with in_time(toolset.run.budget.seconds_left):
            held = await coverages(toolset.services.reader, arms)
    except (TimeIsUp, *UNREADABLE):
        return []
    return [question for question in asked if held.get(words_to_look_up(question), 0.0) >= FOLLOWUP_COVERAGE_MIN]


async def _latest_records(toolset: SearchToolset, types: Sequence[str] = ()) -> list[RecordText]:
    """The latest records of these types, or of what is searched here, which the next question keeps to; nothing where that cannot
    be looked up in time: the answer is given already.
    """
    given = toolset.scope.given
    among = types_with(given, toolset.types)
    try:
        async with in_time(toolset.run.budget.seconds_left):
            return await latest_records(
                toolset.services.reader,
                toolset.reading.types,
                FOLLOWUPS_MAX,
                among=[each for each in among if each.name in types] or among,
                given=given,
            )
    except (TimeIsUp, *UNREADABLE):
        return []


def questions_about(
    question: str, asked_sources: Sequence[EvidenceSource], pool: Sequence[RecordText]
) -> FollowupQuestions:
    """Questions about records that were found but not used, so that each has an answer."""
    used = {source.text.key for source in asked_sources}
    own = set(significant_words(question))
    fresh = [text for text in pool if text.key not in used] + [source.text for source in asked_sources]
    questions: dict[str, None] = {}
    kinds: Counter[tuple[str, str]] = Counter()
    for text in fresh:
        candidate = question_about(text)
        if candidate is None or len(set(significant_words(candidate)) - own) < 1:
            continue
        kind, topic = (text.type, text.topic or text.title)
        if kinds[kind, ""] or kinds["", topic] > 1:
            continue
        kinds[kind, ""] += 1
        kinds["", topic] += 1
        questions[candidate] = None
        if len(questions) == FOLLOWUPS_MAX:
            break
    return FollowupQuestions(questions=list(questions))


def followups_about(records: Sequence[RecordText]) -> list[str]:
    """Questions about records that exist, for when nothing was found. Of a single record there are two."""
    asked = list(dict.fromkeys(question for record in records if (question := question_about(record))))
    if len(asked) < FOLLOWUPS_MIN:
        asked += [f"Which records mention {topic(called(record))}?" for record in records[:FOLLOWUPS_MIN]]
    return list(dict.fromkeys(asked))
