"""Answering a question from records, as a stream of events.

Read `answer_question` from top to bottom: a first search for the question, and then the answer, written by a model (`written`)
or, without one, the exact result of the Query that it likely is (`exact`), else the best sentences of the records (`passages`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from quarry.agent.sources import data_access
from quarry.platform.budget import Budget
from quarry.platform.off_loop import off_loop
from quarry.records.answer_cache import AnswerContext
from quarry.records.answerability import passages_of
from quarry.records.by_rule import ByRule
from quarry.records.checked import citations_event, source_texts
from quarry.records.contract import (
    AnswerChunkEvent,
    AskRequest,
    IntentEvent,
    ToolCallEvent,
    ToolObservationEvent,
)
from quarry.records.evidence import NumberedSources
from quarry.records.exact import given_query, likely_query
from quarry.records.finding import Searched, SearchToolset
from quarry.records.reading import classify_intent
from quarry.records.research import SOURCES_FOUND_MAX
from quarry.records.scope import RecordsInquiry, read_request
from quarry.records.searched_types import RecordTypes
from quarry.records.sources import acting_for, skipping_broken_collections
from quarry.records.written import written_by_model
from quarry.runs.run_log import Run
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event
from quarry.verification.check import Verifier
from quarry.verification.levels import level

MAX_STEPS = 6
"""Most searches, and most model turns, of one answer, the answer itself included."""
FOLLOWUP_TURNS = 2
"""Further turns: the follow-up questions, and one repair of them."""
ANSWER_RESERVE_SECONDS = 20.0
FIRST_SEARCH, SEARCH = "search_1", "search"


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
    settings = services.settings
    budget = Budget.for_answer(
        MAX_STEPS + FOLLOWUP_TURNS,
        MAX_STEPS,
        settings.records_ask_seconds,
        settings.records_ask_tokens,
        ANSWER_RESERVE_SECONDS,
    )
    logged = request.as_asked()
    with services.run("records", caller, request.question, logged, budget, request_id, run_id) as run:
        yield IntentEvent(intent=classify_intent(request.question))
        asker = _Asker(request, types, caller, services, run)
        # what the user set is run as it stands
        by_rule = run.chat is None or request.understood is not None
        inquiry = await asker.inquiry(by_rule=by_rule)
        yield _call_event(inquiry, run)
        context = await asker.context(inquiry)
        for name in context.inquiry.types.degraded(context.inquiry.request.types):
            run.degrade(name)
        yield _observation(context)
        answer = answered_by_rule(context) if by_rule else written_by_model(context, MAX_STEPS, asker.answered_by_rule)
        async with aclosing(answer) as events:
            async for event in events:
                yield event


@dataclass(frozen=True)
class _Asker:
    """A request, and who asks it of which types of record."""

    request: AskRequest
    types: RecordTypes
    caller: Caller
    services: Services
    run: Run

    async def inquiry(self, *, by_rule: bool) -> RecordsInquiry:
        """What the request asks; the question is read if it is answered `by_rule`."""
        read = partial(read_request, self.request, self.caller, self.services, by_rule=by_rule)
        return await skipping_broken_collections(self.types, self.services.memory, read)

    async def context(self, inquiry: RecordsInquiry) -> AnswerContext:
        """The first search for the question."""
        return await skipping_broken_collections(inquiry.types, self.services.memory, partial(self._begin, inquiry))

    async def answered_by_rule(self) -> AsyncGenerator[Event]:
        """The events of an answer whose model wrote none."""
        context = await self.context(await self.inquiry(by_rule=True))
        async with aclosing(answered_by_rule(context)) as events:
            async for event in events:
                yield event

    async def _begin(self, inquiry: RecordsInquiry, types: RecordTypes) -> AnswerContext:
        """Search these types for the question. By rule, also find out what the data answers for sure."""
        caller, services, reading = self.caller, self.services, inquiry.reading
        if types is not inquiry.types:
            inquiry = await read_request(inquiry.request, caller, services, types, by_rule=reading is not None)
        sources = reading.access if reading is not None else await data_access(caller, services)
        evidence = NumberedSources(SOURCES_FOUND_MAX) if reading is None else NumberedSources()
        toolset = SearchToolset(
            services,
            caller,
            self.run,
            types.named(inquiry.request.types),
            types,
            sources,
            inquiry.reading,
            inquiry.scope,
            evidence,
        )
        query = inquiry.conversation.search_query
        first = await toolset.search(query)
        by_rule = await found_by_rule(query, first, toolset, inquiry.request) if reading is not None else None
        return AnswerContext(inquiry, caller, toolset, first, by_rule)


def _call_event(inquiry: RecordsInquiry, run: Run) -> ToolCallEvent:
    """The first search is for the question itself. No model has to decide that."""
    run.budget.spend_call()
    applied = inquiry.applied
    filters = applied.model_dump(mode="json", by_alias=True, exclude={"label"}, exclude_none=True) if applied else {}
    return ToolCallEvent(id=FIRST_SEARCH, tool=SEARCH, arguments={"text": inquiry.conversation.search_query, **filters})


def _observation(context: AnswerContext) -> ToolObservationEvent:
    first = context.first
    summary = f"{first.summary}; only {context.inquiry.applied.label}" if context.inquiry.applied else first.summary
    return ToolObservationEvent(id=FIRST_SEARCH, tool=SEARCH, count=len(first.ranked), summary=summary)


async def answered_by_rule(context: AnswerContext) -> AsyncGenerator[Event]:
    """The events of an answer that no model writes, after its first search. Raises DatabaseUnavailable."""
    answer = context.by_rule or await found_by_rule(
        context.inquiry.conversation.search_query, context.first, context.toolset, context.inquiry.request
    )
    keys = context.keys(*answer.known)
    kept = await context.kept(keys)
    if kept is not None:
        for again in context.given_again(kept, answer.counted, answer.understood):
            yield again
        return
    if answer.understood is not None:
        yield answer.understood
    yield context.sent(answer.sources)
    if answer.counted is not None:
        yield answer.counted
    text, notes = "", _searched(context, answer)
    for piece in filter(None, (*answer.pieces, notes)):
        text += piece
        yield AnswerChunkEvent(chunk=piece)
    verifier = Verifier(source_texts(answer.sources), own=(*answer.own, notes))
    checked = citations_event(await off_loop(verifier.verify, text))
    trust = level(answer.basis, missing=context.inquiry.left_out if answer.understood else ())
    ended = context.ending(text, answer.sources, checked, trust, None, keys, is_found=answer.is_found)
    async with aclosing(ended) as events:
        async for event in events:
            yield event


def _searched(context: AnswerContext, answer: ByRule) -> str:
    """The filters, where nothing near was found within them, and the collections that could not be searched."""
    applied = context.inquiry.applied
    only = f"\n\nOnly this was searched: {applied.label}." if applied and not answer.is_found else ""
    return only + context.missing


async def found_by_rule(query: str, first: Searched, toolset: SearchToolset, request: AskRequest) -> ByRule:
    """The result of the question's Query where that is surely meant; else the passages of the records found, or a doubted result
    where that is likelier right. Raises DatabaseUnavailable, and SourceUnavailable where a table cannot be read.
    """
    understood = request.understood
    read = likely_query(toolset) if understood is None else given_query(toolset, understood.query)
    if read is not None and read.is_sure and (exact := await read.answer()) is not None:
        return exact
    passages, chance = await passages_of(query, first, toolset)
    if read is not None and read.is_likelier_than(chance) and (exact := await read.answer()) is not None:
        return exact
    return passages
