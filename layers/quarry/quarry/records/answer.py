"""Answering a question from records, as a stream of events.

Read `answer_question` from top to bottom: what the question asks, a first search, the facts that need no model (a number, or
that the records hold no such thing), the model's own research while its budget lasts, the sources, the answer as it is
written, how far it can be trusted, what to ask next, and the id under which it is kept.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from uuid import UUID

import quarry
from quarry.core.budget import Budget
from quarry.core.errors import DatabaseUnavailable
from quarry.core.links import LinkFilter
from quarry.core.model.interface import Message
from quarry.core.model.step import filtered, write
from quarry.core.model.tool_loop import ToolStarted, call_tools
from quarry.core.off_loop import off_loop
from quarry.core.postgres.faults import UNREADABLE
from quarry.core.run_log import ResultRecord, Run
from quarry.core.services import Caller, Services
from quarry.core.stream.events import Event
from quarry.records import fallbacks
from quarry.records.answer_cache import FinishedAnswer, KeptAnswer, Keys, digest, find_answer, store_answer
from quarry.records.applied import applied, scope_of, with_filters_in_force
from quarry.records.candidates import RecordKey
from quarry.records.citations import CitationFilter
from quarry.records.confidence import confidence
from quarry.records.contract import (
    AnswerChunkEvent,
    Applied,
    AskRequest,
    Citation,
    CitationsEvent,
    ConfidenceEvent,
    DoneEvent,
    FollowupsEvent,
    IntentEvent,
    RecordType,
    Source,
    SourcesEvent,
    ToolCallEvent,
    ToolObservationEvent,
)
from quarry.records.conversation import Conversation, take_up
from quarry.records.evidence import EvidenceSource
from quarry.records.facts import Facts, known_facts
from quarry.records.followups import suggest_followups
from quarry.records.intent import classify_intent
from quarry.records.prompts import answer_messages, research_messages
from quarry.records.reading import RecordsReading, by_itself, read_records
from quarry.records.retrieval import Scope, describe, with_known_values
from quarry.records.searched_types import RecordTypes
from quarry.records.support import support
from quarry.records.tools import SEARCH_ALL, Searched, SearchToolset
from quarry.records.types_in_force import acting_for
from quarry.records.unreadable import over_readable

MAX_STEPS = 6
"""Agent steps of one answer: searches at most, and model turns at most, the answer included."""
FOLLOWUP_TURNS = 2
"""Turns beyond the agent's own: the follow-up questions, and one repair of them."""
ANSWER_RESERVE_SECONDS = 20.0
FIRST_SEARCH = "search_1"
RESEARCH_STEP = "records_research"

BROKEN_OFF = "\n\n*The answer broke off here. From the sources themselves:*\n\n"

logger = logging.getLogger(__name__)


async def answer_question(
    request: AskRequest,
    caller: Caller,
    services: Services,
    request_id: str | None = None,
    run_id: UUID | None = None,
) -> AsyncGenerator[Event]:
    """The events of one answer. A failing model degrades steps and never ends the stream, nor do collections that cannot be read
    while others can; a failing database does.

    An answer that was degraded by a failing model can be opened again as every other, and is not given again: the next one is
    asked of the model. One that nobody waited for is not kept.
    """
    types, services = await acting_for(caller, services)
    budget, logged = _budget(services), request.as_asked()
    with services.run("records", caller, request.question, logged, budget, request_id, run_id) as run:
        yield IntentEvent(intent=classify_intent(request.question))
        asked = await over_readable(types, services.memory, partial(_read, request, services))
        yield _call_event(asked, run)
        begun = await over_readable(asked.types, services.memory, partial(_begin, asked, services, run))
        for name in begun.asked.types.degraded(begun.asked.request.types):
            run.degrade(name)
        yield _observation(begun)
        keys = _keys(begun.asked.request, caller, begun)
        is_made_anew = request.fresh or bool(begun.asked.left_out)
        kept = None if is_made_anew else await _kept(services, keys)
        async with aclosing(_retold(kept, begun) if kept is not None else _answered(begun, caller, keys)) as events:
            async for event in events:
                yield event


@dataclass(frozen=True)
class _Asked:
    """What is asked of the types that can be read: the request with the filters in force, the question in its conversation, and
    what is told of the types and filters that hold.
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
class _Begun:
    """An answer of which the first search is done: what is asked, the searches, what was found first, and what is known without a
    model.
    """

    asked: _Asked
    toolset: SearchToolset
    first: Searched
    facts: Facts

    @property
    def conversation(self) -> Conversation:
        """The question in its conversation."""
        return self.asked.conversation

    @property
    def told(self) -> Applied | None:
        """What is told of the types and filters that hold; None where all records are searched."""
        return self.asked.told

    @property
    def evidence(self) -> Sequence[EvidenceSource]:
        """What is answered from, as far as it was found."""
        return [] if self.facts.is_all else self.toolset.evidence.sources

    @property
    def only(self) -> str:
        """That no more was searched than what is asked for, where nothing was found there, and what could not be; else empty."""
        is_said = self.told is not None and not self.evidence and self.facts.counted is None
        only = f"\n\nOnly this was searched: {self.told.label}." if self.told and is_said else ""
        missing = ", ".join(self.asked.left_out)
        return only + (f"\n\nNot searched, because it cannot be read at the moment: {missing}." if missing else "")

    def checked(
        self, sources: Sequence[Source], citations: Sequence[Citation], unsupported: Sequence[str]
    ) -> tuple[CitationsEvent, ConfidenceEvent]:
        """What is told of an answer with these citations, and how far it can be trusted."""
        is_doubtful = self.facts.is_doubted_with(citations) or bool(self.asked.left_out)
        level, label = confidence(sources, self.facts.basis, is_doubtful=is_doubtful)
        return (
            CitationsEvent(citations=[*citations], unsupported=[*unsupported]),
            ConfidenceEvent(level=level, source_count=len(sources), label=label),
        )

    def done(self, answer_id: str | None, degraded: list[str], *, cached: bool = False) -> DoneEvent:
        return DoneEvent(
            answer_id=answer_id,
            cached=cached,
            topic_changed=self.conversation.topic_changed,
            degraded=degraded,
            applied=self.told,
        )


async def _answered(begun: _Begun, caller: Caller, keys: Keys) -> AsyncGenerator[Event]:
    """The events of an answer that is made now, behind its first search."""
    facts, run = begun.facts, begun.toolset.run
    async with aclosing(_research(begun)) as research:
        async for event in research:
            yield event
    evidence = begun.evidence
    sources = [source.to_source() for source in evidence]
    yield SourcesEvent(sources=sources)
    run.results = [ResultRecord(source.text.type, source.text.id, source.weight) for source in evidence]
    if facts.counted is not None:
        yield facts.counted

    answer = ""
    async with aclosing(_write(begun)) as chunks:
        async for chunk in chunks:
            answer += chunk
            yield AnswerChunkEvent(chunk=chunk)
    own = (facts.text, facts.doubt, BROKEN_OFF, fallbacks.NOTHING_FOUND, begun.only)
    supported = await off_loop(support, answer, {source.n: source.text for source in evidence}, own)
    citations, trust = begun.checked(sources, supported.citations, supported.unsupported)
    yield citations
    yield trust
    followups = await suggest_followups(begun.conversation, answer, begun.toolset, facts)
    yield FollowupsEvent(questions=followups)

    finished = FinishedAnswer(answer, sources, followups, trust.level, supported.citations, supported.unsupported)
    run.answer_id = await _keep(begun, caller, finished, None if run.degraded else keys)
    run.end_reason = "answered" if sources else "nothing_found"
    yield begun.done(run.answer_id, run.degraded)


def _keys(request: AskRequest, caller: Caller, begun: _Begun) -> Keys:
    """What an answer is kept by: all that it is made from before a model is asked."""
    facts, services, found = begun.facts, begun.toolset.services, begun.toolset.pool.values()
    return Keys(
        digest(
            caller.user_id,
            # of the claims those alone that decide which rows are found: others, such as a token's time, differ with each sign-in
            begun.toolset.reading.types.settings(caller.claims),
            _asked(request),
            [turn.model_dump() for turn in request.recent_history],
            services.chat.name if services.chat else None,
            services.embeddings.name,
            quarry.__version__,
        ),
        digest(
            [(text.type, text.id, text.title, text.body, text.date) for text in found],
            facts.text,
            facts.doubt,
            facts.is_all,
            facts.counted.to_json() if facts.counted else None,
        ),
    )


def _asked(request: AskRequest) -> dict[str, Any]:
    """What is asked, whatever the order in which types and values are named: any of them is meant."""
    asked = request.model_dump(mode="json", exclude={"fresh", "history"})
    facets = {name: sorted({*values}) for name, values in request.filters.facets.items()}
    return asked | {"types": sorted({*request.types}), "filters": asked["filters"] | {"facets": facets}}


async def _kept(services: Services, keys: Keys) -> KeptAnswer | None:
    """A kept answer to the same question over the same records; none where that cannot be looked up."""
    try:
        return await find_answer(services.database, keys)
    except DatabaseUnavailable:
        return None


async def _retold(kept: KeptAnswer, begun: _Begun) -> AsyncGenerator[Event]:
    """The events of an answer that was given before."""
    given, run = kept.finished, begun.toolset.run
    run.end_reason, run.answer_id = "kept_answer", kept.id
    run.results = [ResultRecord(source.type, source.id, source.similarity or 0.0) for source in given.sources]
    yield SourcesEvent(sources=[*given.sources])
    if begun.facts.counted is not None:
        yield begun.facts.counted
    yield AnswerChunkEvent(chunk=given.answer)
    for event in begun.checked(given.sources, given.citations, given.unsupported):
        yield event
    yield FollowupsEvent(questions=[*given.followups])
    yield begun.done(kept.id, [], cached=True)


async def _read(request: AskRequest, services: Services, types: RecordTypes) -> _Asked:
    """What is asked of these types, and of which of their records."""
    conversation, reading = await _placed(request, services, types)
    request = with_filters_in_force(request, conversation)
    chosen = types.named(request.types)
    scope = await with_known_values(services.reader, scope_of(request.filters, chosen), chosen, types.owners)
    return _Asked(types, request, conversation, reading, scope, applied(request, types, scope))


async def _placed(request: AskRequest, services: Services, types: RecordTypes) -> tuple[Conversation, RecordsReading]:
    """The question in its conversation, and what it asks of the records: in the light of those before it, unless it names a topic
    of its own.
    """
    history = request.recent_history
    earlier = [turn.question for turn in history if turn.question]
    reading = await read_records(services.reader, types, request.question, earlier=earlier)
    follows_up = reading.question.follows_up
    place = partial(take_up, request.question, history, leans=follows_up, small_talk=reading.parsed.small_talk)
    conversation = await off_loop(place)
    if not (conversation.topic_changed and follows_up):
        return conversation, reading
    alone = await off_loop(by_itself, reading)
    if alone.question.topic:
        return conversation, alone
    # no more than a condition is said: "and in March?"
    return await off_loop(partial(place, stays=True)), reading


async def _begin(asked: _Asked, services: Services, run: Run, types: RecordTypes) -> _Begun:
    """The question searched for and, as far as that needs no model, answered, over these types."""
    if types is not asked.types:
        asked = await _read(asked.request, services, types)
    toolset = SearchToolset(services, run, types.named(asked.request.types), asked.reading, asked.scope)
    query = asked.conversation.search_query
    first = await toolset.search(query)
    return _Begun(asked, toolset, first, await known_facts(query, first, toolset))


def _call_event(asked: _Asked, run: Run) -> ToolCallEvent:
    """The first search is for the question itself: it needs no model to decide that."""
    run.budget.spend_call()
    told = asked.told
    filters = told.model_dump(mode="json", by_alias=True, exclude={"label"}, exclude_none=True) if told else {}
    arguments = {"query": asked.conversation.search_query, **filters}
    return ToolCallEvent(id=FIRST_SEARCH, tool=SEARCH_ALL, arguments=arguments)


def _observation(begun: _Begun) -> ToolObservationEvent:
    first = begun.first
    summary = f"{first.summary}; only {begun.told.label}" if begun.told else first.summary
    return ToolObservationEvent(id=FIRST_SEARCH, tool=SEARCH_ALL, count=len(first.ranked), summary=summary)


async def _research(begun: _Begun) -> AsyncGenerator[Event]:
    """The model's own searches, if there is a model and anything is left to be known."""
    conversation, toolset, run = begun.conversation, begun.toolset, begun.toolset.run
    if run.chat is None or begun.facts.is_all:
        return
    messages = research_messages(conversation.question, conversation.history, toolset.evidence.sources)
    calls = call_tools(messages, toolset.tools(), run, step_name=RESEARCH_STEP, max_turns=MAX_STEPS - 1)
    try:
        async with aclosing(calls):
            async for event in calls:
                if isinstance(event, ToolStarted):
                    yield ToolCallEvent(id=event.id, tool=event.tool, arguments=event.arguments)
                else:
                    yield ToolObservationEvent(
                        id=event.id, tool=event.tool, count=event.result.count, summary=event.result.summary
                    )
    except UNREADABLE:
        if not toolset.evidence.sources:
            raise
        run.degrade(RESEARCH_STEP)


async def _write(begun: _Begun) -> AsyncGenerator[str]:
    """The answer as it comes: what is known for sure, then the model's, or the sources' own sentences."""
    facts, sources = begun.facts, begun.evidence
    beginning = facts.text or (facts.lacking if sources else "")
    if beginning:
        yield beginning
    if not facts.is_all:
        if beginning:
            yield "\n\n"
        pieces = write(
            "records_answer",
            begun.toolset.run,
            partial(_answer_messages, begun) if sources else None,
            partial(_by_rule, begun),
            broken_off=BROKEN_OFF,
            checked=partial(_checked, sources),
        )
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece
    if begun.only:
        yield begun.only


def _answer_messages(begun: _Begun) -> Sequence[Message]:
    facts, asked = begun.facts, begun.conversation
    is_doubt_told = bool(facts.lacking)
    return answer_messages(
        asked.question, asked.history, begun.evidence, facts.text, facts.doubt, is_doubt_told=is_doubt_told
    )


def _checked(evidence: Sequence[EvidenceSource], texts: AsyncGenerator[str]) -> AsyncGenerator[str]:
    """What the model writes, its citations and links checked."""
    said = {source.n: " ".join((source.text.title, source.text.body, source.text.url or "")) for source in evidence}
    return filtered(LinkFilter(said), filtered(CitationFilter(said), texts))


def _by_rule(begun: _Begun) -> Iterator[str]:
    """The sources' own sentences, behind what they may not answer."""
    conversation, facts, sources, reading = begun.conversation, begun.facts, begun.evidence, begun.toolset.reading
    if facts.doubt and not facts.lacking and sources:
        yield f"{facts.doubt}\n\n"
    told = [replace(source, weight=1.0, similarity=None) for source in sources] if facts.is_listed else sources
    extracted = [
        *fallbacks.extractive_answer(
            conversation.question,
            conversation.search_query,
            fallbacks.of_codes(conversation.question, fallbacks.said_by(facts.authors, told)),
            facts.authors,
            reading.rows_asked_for,
            is_list=facts.is_listed,
            called=reading.types.of_anybody,
        )
    ]
    # beside a number that was counted, nothing need be quoted
    yield from extracted if extracted != [fallbacks.NOTHING_FOUND] or not facts.text else ()


async def _keep(begun: _Begun, caller: Caller, finished: FinishedAnswer, keys: Keys | None) -> str | None:
    """The id under which the answer was stored; None when it could not be: the reader has it all the same."""
    services = begun.toolset.services
    try:
        return await store_answer(
            services.database,
            query=begun.conversation.question,
            owner=caller.user_id,
            finished=finished,
            keys=keys,
            changed=await _changed_since_read(begun),
            lifetime_days=services.settings.answer_lifetime_days,
        )
    except UNREADABLE:
        logger.warning("an answer could not be stored")
        return None


async def _changed_since_read(begun: _Begun) -> set[RecordKey]:
    """Those of the records that say something else by now, or did when a replica that was behind was read."""
    toolset, texts = begun.toolset, [source.text for source in begun.evidence]
    texts_now = await describe(toolset.services.database, [text.key for text in texts], toolset.reading.types, "")
    now = {text.key: replace(text, snippet="") for text in texts_now}
    return {text.key for text in texts if now.get(text.key) != replace(text, snippet="")}


def _budget(services: Services) -> Budget:
    settings = services.settings
    return Budget(
        max_turns=MAX_STEPS + FOLLOWUP_TURNS,
        max_calls=MAX_STEPS,
        max_seconds=settings.records_ask_seconds,
        max_tokens=settings.records_ask_tokens,
        reserved_seconds=min(ANSWER_RESERVE_SECONDS, settings.records_ask_seconds / 2),
    )
