"""Answering a question from records, as a stream of events.

Read `answer_question` from top to bottom: what the question asks, a first search, the facts that need no model (a number, or
that the records hold no such thing), the model's own research while its budget lasts, the sources, the answer as it is
written, how far it can be trusted, what to ask next, and the id under which it is kept.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from quarry.core.budget import Budget, in_time
from quarry.core.errors import DatabaseUnavailable, ModelError, ModelOutputInvalid, TimeIsUp
from quarry.core.model.interface import ChatModel
from quarry.core.model.step import ModelStep, decide, write
from quarry.core.model.tool_loop import ToolStarted, call_tools
from quarry.core.off_loop import off_loop
from quarry.core.run_log import ResultRecord, Run, StepRecord
from quarry.core.services import Caller, Services
from quarry.core.stream.events import Event
from quarry.records import fallbacks
from quarry.records.absence import LIKENESS_SURE, is_near_nothing, names_held_by_none, words_held_by_none
from quarry.records.answer_cache import store_answer
from quarry.records.candidates import RecordText
from quarry.records.citations import CitationFilter
from quarry.records.contract import (
    AggregationEvent,
    AnswerChunkEvent,
    AskRequest,
    ConfidenceEvent,
    DoneEvent,
    FollowupsEvent,
    IntentEvent,
    Source,
    SourcesEvent,
    ToolCallEvent,
    ToolObservationEvent,
)
from quarry.records.conversation import Conversation, take_up
from quarry.records.counting import count, what_to_count
from quarry.records.evidence import confidence
from quarry.records.intent import classify_intent
from quarry.records.outputs import FollowupQuestions
from quarry.records.prompts import answer_messages, followup_messages, research_messages
from quarry.records.reading import RecordsReading, read_records
from quarry.records.retrieval import EVERYTHING, Scope, latest_records
from quarry.records.searched_types import RecordTypes
from quarry.records.tools import SEARCH_ALL, Searched, SearchToolset
from quarry.records.types_in_force import acting_for

MAX_STEPS = 6
"""Agent steps of one answer: searches at most, and model turns at most, the answer included."""
FOLLOWUP_TURNS = 2
"""Turns beyond the agent's own: the follow-up questions, and one repair of them."""
ANSWER_RESERVE_SECONDS = 20.0
FOLLOWUPS_MIN = 2

FIRST_SEARCH = "search_1"
RESEARCH_STEP = "records_research"

BROKEN_OFF = "\n\n*The answer broke off here. From the sources themselves:*\n\n"

logger = logging.getLogger(__name__)


async def answer_question(
    request: AskRequest,
    caller: Caller,
    services: Services,
    request_id: str | None = None,
    scope: Scope = EVERYTHING,
) -> AsyncGenerator[Event]:
    """The events of one answer, made from what is in `scope`. A failing model degrades steps and never ends the stream; a failing
    database does.

    An answer that was degraded by a failing model is not kept, nor is one that nobody waited for.
    """
    types, services = await acting_for(caller, services)
    conversation = await off_loop(take_up, request.question, request.recent_history)
    run = Run("records", caller.user_id, request.question, _budget(services), services.chat, request_id)
    with services.run_log.record(run):
        yield IntentEvent(intent=classify_intent(request.question))
        reading = await _read(request, conversation, services, types)
        toolset = SearchToolset(services, run, types.named(request.types), reading, scope)
        yield _call_event(conversation.search_query, run)
        first = await toolset.search(conversation.search_query)
        yield ToolObservationEvent(id=FIRST_SEARCH, tool=SEARCH_ALL, count=len(first.ranked), summary=first.summary)
        facts = await _facts(first, toolset)
        if not facts.is_all:
            async with aclosing(_research(conversation, toolset)) as research:
                async for event in research:
                    yield event
        evidence = [] if facts.is_all else toolset.evidence.sources
        sources = [source.to_source() for source in evidence]
        yield SourcesEvent(sources=sources)
        run.results = [ResultRecord(source.text.type, source.text.id, source.weight) for source in evidence]
        if facts.counted is not None:
            yield facts.counted

        answer = ""
        async with aclosing(_write(conversation, facts, toolset)) as chunks:
            async for chunk in chunks:
                answer += chunk
                yield AnswerChunkEvent(chunk=chunk)
        level, label = confidence(sources)
        yield ConfidenceEvent(level=level, source_count=len(sources), label=label)
        followups = await _suggest_followups(conversation, answer, toolset)
        yield FollowupsEvent(questions=followups)

        answer_id = None
        if not run.degraded:
            answer_id = await _keep(services, request.question, answer, sources, followups)
        run.end_reason = "answered" if sources else "nothing_found"
        yield DoneEvent(
            answer_id=answer_id, cached=False, topic_changed=conversation.topic_changed, degraded=run.degraded
        )


async def _read(
    request: AskRequest, conversation: Conversation, services: Services, types: RecordTypes
) -> RecordsReading:
    """What the question asks of the records, in the light of those before it unless it names a topic of its own."""
    earlier = [turn.question for turn in request.recent_history if turn.question]
    reading = await read_records(services.database, types, request.question, earlier=earlier)
    if not (conversation.topic_changed and reading.question.follows_up):
        return reading
    alone = await read_records(services.database, types, request.question)
    return alone if alone.question.topic else reading


def _call_event(query: str, run: Run) -> ToolCallEvent:
    """The first search is for the question itself: it needs no model to decide that."""
    run.budget.spend_call()
    return ToolCallEvent(id=FIRST_SEARCH, tool=SEARCH_ALL, arguments={"query": query})


@dataclass(frozen=True)
class _Facts:
    """What is known for sure: `text` begins the answer; `is_all`: nothing else can answer it.

    `authors`: what they said is asked for.
    """

    text: str = ""
    counted: AggregationEvent | None = None
    is_all: bool = False
    authors: frozenset[str] = frozenset()


async def _facts(first: Searched, toolset: SearchToolset) -> _Facts:
    """The number that was asked for; or that the records do not hold what was, with the nearest that they do."""
    database, reading = toolset.services.database, toolset.reading
    if wanted := what_to_count(reading, toolset.types, toolset.scope):
        with toolset.run.step("records_count"):
            counted = await count(database, wanted)
        if counted is not None:
            return _Facts(counted.sentence, counted.event, is_all=not counted.event.total or not first.sources)
    if first.ranked and (names := await names_held_by_none(database, reading, toolset.types)):
        return _Facts(fallbacks.nothing_held(names, first.sources), is_all=True)
    by_meaning = not toolset.run.degraded
    if toolset.run.chat is None and by_meaning and is_near_nothing(first.ranked, reading, LIKENESS_SURE):
        words = await words_held_by_none(database, reading, toolset.types)
        if first.ranked and (words or is_near_nothing(first.ranked, reading)):
            return _Facts(fallbacks.nothing_held(words, first.sources), is_all=True)
    return _Facts(authors=reading.authors)


async def _research(conversation: Conversation, toolset: SearchToolset) -> AsyncGenerator[Event]:
    """The model's own searches, if there is a model."""
    run = toolset.run
    if run.chat is None:
        return
    messages = research_messages(conversation.question, conversation.history, toolset.evidence.sources)
    calls = call_tools(run.chat, messages, toolset.tools(), run, step_name=RESEARCH_STEP, max_turns=MAX_STEPS - 1)
    try:
        async with aclosing(calls):
            async for event in calls:
                if isinstance(event, ToolStarted):
                    yield ToolCallEvent(id=event.id, tool=event.tool, arguments=event.arguments)
                else:
                    yield ToolObservationEvent(
                        id=event.id, tool=event.tool, count=event.result.count, summary=event.result.summary
                    )
    except DatabaseUnavailable:
        if not toolset.evidence.sources:
            raise
        run.degrade(RESEARCH_STEP)


async def _write(conversation: Conversation, facts: _Facts, toolset: SearchToolset) -> AsyncGenerator[str]:
    """The answer as it comes, its citations checked: what is known for sure, then the model's, or the sources' own sentences."""
    run, sources = toolset.run, toolset.evidence.sources
    if facts.text:
        yield facts.text
        if facts.is_all:
            return
        yield "\n\n"
    with run.step("records_answer") as record:
        written = ""
        if run.chat is not None and sources:
            try:
                async with aclosing(_model_answer(conversation, facts, toolset, run.chat, record)) as chunks:
                    async for chunk in chunks:
                        written += chunk
                        yield chunk
                if not written.strip():
                    raise ModelOutputInvalid("The model wrote nothing but citations of no source.")
                record.counts["characters"] = len(written)
                return
            except ModelError:
                run.degrade("records_answer", record)
        if written.strip():
            yield BROKEN_OFF
        extracted = await off_loop(
            lambda: list(
                fallbacks.extractive_answer(
                    conversation.question, conversation.search_query, fallbacks.said_by(facts.authors, sources)
                )
            )
        )
        for chunk in extracted:
            yield chunk
            # let each sentence leave before the next is written
            await asyncio.sleep(0)


async def _model_answer(
    conversation: Conversation, facts: _Facts, toolset: SearchToolset, chat: ChatModel, record: StepRecord
) -> AsyncGenerator[str]:
    sources = toolset.evidence.sources
    messages = answer_messages(conversation.question, conversation.history, sources, facts.text)
    citations = CitationFilter({source.n for source in sources})
    async with aclosing(write(messages, toolset.run, chat, record)) as texts:
        async for text in texts:
            if chunk := citations.feed(text):
                yield chunk
    if chunk := citations.finish():
        yield chunk


async def _suggest_followups(conversation: Conversation, answer: str, toolset: SearchToolset) -> list[str]:
    """Two or three questions that the records can answer."""
    sources, pool = toolset.evidence.sources, list(toolset.pool.values())

    def fallback(_: str) -> FollowupQuestions:
        return fallbacks.suggest_followups(conversation.question, sources, pool)

    if not sources:
        return fallbacks.followups_about(await _latest_records(toolset))
    step = ModelStep(
        "records_followups",
        lambda text: followup_messages(conversation.question, text, [record.topic or record.title for record in pool]),
        FollowupQuestions,
        fallback,
    )
    decided = await decide(step, answer, toolset.run)
    questions = await off_loop(fallbacks.answerable, decided.questions, pool)
    if len(questions) < FOLLOWUPS_MIN:
        more = await off_loop(fallback, answer)
        questions = list(dict.fromkeys([*questions, *more.questions]))
    if len(questions) < FOLLOWUPS_MIN:
        questions = list(dict.fromkeys([*questions, *fallbacks.followups_about(await _latest_records(toolset))]))
    return questions[: fallbacks.FOLLOWUPS_MAX]


async def _latest_records(toolset: SearchToolset) -> list[RecordText]:
    """The latest records; nothing where that cannot be looked up in time: the answer is given already."""
    try:
        async with in_time(toolset.run.budget.seconds_left):
            return await latest_records(toolset.services.database, toolset.reading.types, fallbacks.FOLLOWUPS_MAX)
    except (TimeIsUp, DatabaseUnavailable):
        return []


async def _keep(services: Services, query: str, answer: str, sources: list[Source], followups: list[str]) -> str | None:
    """The id under which the answer was stored; None when it could not be: the reader has it all the same."""
    try:
        return await store_answer(
            services.database,
            query=query,
            answer=answer,
            sources=sources,
            followups=followups,
            confidence=confidence(sources)[0],
            lifetime_days=services.settings.answer_lifetime_days,
        )
    except DatabaseUnavailable:
        logger.warning("an answer could not be stored")
        return None


def _budget(services: Services) -> Budget:
    settings = services.settings
    return Budget(
        max_turns=MAX_STEPS + FOLLOWUP_TURNS,
        max_calls=MAX_STEPS,
        max_seconds=settings.records_ask_seconds,
        max_tokens=settings.records_ask_tokens,
        reserved_seconds=min(ANSWER_RESERVE_SECONDS, settings.records_ask_seconds / 2),
    )
