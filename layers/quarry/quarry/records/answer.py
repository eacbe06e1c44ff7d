"""Answering a question from records, as a stream of events.

Read `answer_question` from top to bottom: what the question asks, a first search for it, and then the answer, by a model that
leads (`by_model`) or, without one, by rule (`by_rule`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from uuid import UUID

from quarry.platform.budget import Budget
from quarry.platform.off_loop import off_loop
from quarry.records.applied import applied, scope_of, with_filters_in_force
from quarry.records.begun import Asked, Begun
from quarry.records.by_model import answered_by_model
from quarry.records.by_reader import known_facts
from quarry.records.by_rule import answered_by_rule
from quarry.records.contract import AskRequest, IntentEvent, ToolCallEvent, ToolObservationEvent
from quarry.records.conversation import Conversation, take_up
from quarry.records.evidence import Evidence
from quarry.records.intent import classify_intent
from quarry.records.reading import RecordsReading, read_records
from quarry.records.research import SOURCES_FOUND_MAX
from quarry.records.retrieval import with_known_values
from quarry.records.searched_types import RecordTypes
from quarry.records.tools import SEARCH, SearchToolset
from quarry.records.types_in_force import acting_for
from quarry.records.unreadable import over_readable
from quarry.runs.run_log import Run
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event

MAX_STEPS = 6
"""Agent steps of one answer: searches at most, and model turns at most, the answer included."""
FOLLOWUP_TURNS = 2
"""Turns beyond the agent's own: the follow-up questions, and one repair of them."""
ANSWER_RESERVE_SECONDS = 20.0
FIRST_SEARCH = "search_1"


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
        asked = await over_readable(types, services.memory, partial(_read, request, caller, services))
        yield _call_event(asked, run)
        begun = await over_readable(asked.types, services.memory, partial(_begin, asked, caller, services, run))
        for name in begun.asked.types.degraded(begun.asked.request.types):
            run.degrade(name)
        yield _observation(begun)
        answer = answered_by_model(begun, MAX_STEPS) if run.chat is not None else answered_by_rule(begun)
        async with aclosing(answer) as events:
            async for event in events:
                yield event


async def _read(request: AskRequest, caller: Caller, services: Services, types: RecordTypes) -> Asked:
    """What is asked of these types, and of which of their records."""
    conversation, reading = await _placed(request, caller, services, types)
    request = with_filters_in_force(request, conversation)
    chosen = types.named(request.types)
    scope = await with_known_values(services.reader, scope_of(request.filters, chosen), chosen, types.owners)
    return Asked(types, request, conversation, reading, scope, applied(request, types, scope))


async def _placed(
    request: AskRequest, caller: Caller, services: Services, types: RecordTypes
) -> tuple[Conversation, RecordsReading]:
    """The question in its conversation, and what it asks of the records: in the light of the one before it, unless it begins a
    topic of its own. One that says only conditions begins none: "and in March?".
    """
    history = request.recent_history
    read = partial(read_records, caller, services, types, request.question, request.types)
    alone = await read()
    place = partial(take_up, request.question, history, stays=alone.only_conditions)
    conversation = await off_loop(place)
    earlier = next((turn.question for turn in reversed(conversation.history) if turn.question), "")
    return conversation, await read(earlier=earlier) if earlier else alone


async def _begin(asked: Asked, caller: Caller, services: Services, run: Run, types: RecordTypes) -> Begun:
    """The question searched for over these types and, where no model leads, what is known for sure."""
    if types is not asked.types:
        asked = await _read(asked.request, caller, services, types)
    evidence = Evidence(SOURCES_FOUND_MAX) if run.chat is not None else Evidence()
    chosen = types.named(asked.request.types)
    toolset = SearchToolset(services, caller, run, chosen, asked.reading, asked.scope, evidence)
    query = asked.conversation.search_query
    first = await toolset.search(query)
    facts = await known_facts(query, first, toolset) if run.chat is None else None
    return Begun(asked, caller, toolset, first, facts)


def _call_event(asked: Asked, run: Run) -> ToolCallEvent:
    """The first search is for the question itself: it needs no model to decide that."""
    run.budget.spend_call()
    told = asked.told
    filters = told.model_dump(mode="json", by_alias=True, exclude={"label"}, exclude_none=True) if told else {}
    return ToolCallEvent(id=FIRST_SEARCH, tool=SEARCH, arguments={"text": asked.conversation.search_query, **filters})


def _observation(begun: Begun) -> ToolObservationEvent:
    first = begun.first
    summary = f"{first.summary}; only {begun.told.label}" if begun.told else first.summary
    return ToolObservationEvent(id=FIRST_SEARCH, tool=SEARCH, count=len(first.ranked), summary=summary)


def _budget(services: Services) -> Budget:
    settings = services.settings
    return Budget(
        max_turns=MAX_STEPS + FOLLOWUP_TURNS,
        max_calls=MAX_STEPS,
        max_seconds=settings.records_ask_seconds,
        max_tokens=settings.records_ask_tokens,
        reserved_seconds=min(ANSWER_RESERVE_SECONDS, settings.records_ask_seconds / 2),
    )
