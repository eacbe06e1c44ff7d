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

from quarry.agent.sources import what_may_be_asked
from quarry.platform.budget import Budget
from quarry.platform.off_loop import off_loop
from quarry.records.answer_cache import Begun
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
from quarry.records.evidence import Evidence
from quarry.records.exact import given_query, likely_query
from quarry.records.finding import Searched, SearchToolset
from quarry.records.reading import classify_intent
from quarry.records.research import SOURCES_FOUND_MAX
from quarry.records.scope import Asked, read_request
from quarry.records.searched_types import RecordTypes
from quarry.records.sources import acting_for, over_readable
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
        asked = await asker.asked(by_rule=by_rule)
        yield _call_event(asked, run)
        begun = await asker.begun(asked)
        for name in begun.asked.types.degraded(begun.asked.request.types):
            run.degrade(name)
        yield _observation(begun)
        answer = answered_by_rule(begun) if by_rule else written_by_model(begun, MAX_STEPS, asker.answered_by_rule)
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

    async def asked(self, *, by_rule: bool) -> Asked:
        """What the request asks; the question is read if it is answered `by_rule`."""
        read = partial(read_request, self.request, self.caller, self.services, by_rule=by_rule)
        return await over_readable(self.types, self.services.memory, read)

    async def begun(self, asked: Asked) -> Begun:
        """The first search for the question."""
        return await over_readable(asked.types, self.services.memory, partial(self._begin, asked))

    async def answered_by_rule(self) -> AsyncGenerator[Event]:
        """The events of an answer whose model wrote none."""
        begun = await self.begun(await self.asked(by_rule=True))
        async with aclosing(answered_by_rule(begun)) as events:
            async for event in events:
                yield event

    async def _begin(self, asked: Asked, types: RecordTypes) -> Begun:
        """Search these types for the question. By rule, also find out what the data answers for sure."""
        caller, services, reading = self.caller, self.services, asked.reading
        if types is not asked.types:
            asked = await read_request(asked.request, caller, services, types, by_rule=reading is not None)
        sources = reading.asked if reading is not None else await what_may_be_asked(caller, services)
        evidence = Evidence(SOURCES_FOUND_MAX) if reading is None else Evidence()
        toolset = SearchToolset(
            services,
            caller,
            self.run,
            types.named(asked.request.types),
            types,
            sources,
            asked.reading,
            asked.scope,
            evidence,
        )
        query = asked.conversation.search_query
        first = await toolset.search(query)
        by_rule = await found_by_rule(query, first, toolset, asked.request) if reading is not None else None
        return Begun(asked, caller, toolset, first, by_rule)


def _call_event(asked: Asked, run: Run) -> ToolCallEvent:
    """The first search is for the question itself. No model has to decide that."""
    run.budget.spend_call()
    told = asked.told
    filters = told.model_dump(mode="json", by_alias=True, exclude={"label"}, exclude_none=True) if told else {}
    return ToolCallEvent(id=FIRST_SEARCH, tool=SEARCH, arguments={"text": asked.conversation.search_query, **filters})


def _observation(begun: Begun) -> ToolObservationEvent:
    first = begun.first
    summary = f"{first.summary}; only {begun.asked.told.label}" if begun.asked.told else first.summary
    return ToolObservationEvent(id=FIRST_SEARCH, tool=SEARCH, count=len(first.ranked), summary=summary)


async def answered_by_rule(begun: Begun) -> AsyncGenerator[Event]:
    """The events of an answer that no model writes, after its first search. Raises DatabaseUnavailable."""
    answer = begun.by_rule or await found_by_rule(
        begun.asked.conversation.search_query, begun.first, begun.toolset, begun.asked.request
    )
    keys = begun.keys(*answer.known)
    kept = await begun.kept(keys)
    if kept is not None:
        for again in begun.given_again(kept, answer.counted, answer.understood):
            yield again
        return
    if answer.understood is not None:
        yield answer.understood
    yield begun.sent(answer.sources)
    if answer.counted is not None:
        yield answer.counted
    text, notes = "", _searched(begun, answer)
    for piece in filter(None, (*answer.pieces, notes)):
        text += piece
        yield AnswerChunkEvent(chunk=piece)
    verifier = Verifier(source_texts(answer.sources), own=(*answer.own, notes))
    checked = citations_event(await off_loop(verifier.verify, text))
    trust = level(answer.basis, missing=begun.asked.left_out if answer.understood else ())
    ended = begun.ending(text, answer.sources, checked, trust, None, keys, is_found=answer.is_found)
    async with aclosing(ended) as events:
        async for event in events:
            yield event


def _searched(begun: Begun, answer: ByRule) -> str:
    """The filters, where nothing near was found within them, and the collections that could not be searched."""
    told = begun.asked.told
    only = f"\n\nOnly this was searched: {told.label}." if told and not answer.is_found else ""
    return only + begun.missing


async def found_by_rule(query: str, first: Searched, toolset: SearchToolset, request: AskRequest) -> ByRule:
    """The result of the question's Query where that is surely meant; else the passages of the records found, or a doubted result
    where that is likelier right. Raises DatabaseUnavailable, and SourceUnavailable where a table cannot be read.
    """
    given = request.understood
    read = likely_query(toolset) if given is None else given_query(toolset, given.query)
    if read is not None and read.is_sure and (exact := await read.answer()) is not None:
        return exact
    passages, chance = await passages_of(query, first, toolset)
    if read is not None and read.is_likelier_than(chance) and (exact := await read.answer()) is not None:
        return exact
    return passages
