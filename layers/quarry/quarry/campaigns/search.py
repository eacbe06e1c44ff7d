"""Answering a question about campaigns, as a stream of events.

Read `chat_about_campaigns` from top to bottom: the question is read once; the model searches while its budget lasts, or what the
reading says is answered without one; the answer as it is written; the set of campaigns that it speaks of.
"""

from __future__ import annotations

import asyncio
import datetime
import re
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any
from weakref import WeakKeyDictionary

from quarry.campaigns import answering, fallbacks
from quarry.campaigns.contract import (
    Campaign,
    ChatRequest,
    ChatResponse,
    EmbeddingField,
    EndReason,
    FinalAnswerEvent,
    PartialText,
    PartialTextEvent,
    Telemetry,
    ToolCalled,
    ToolCallEvent,
    ToolObservationEvent,
    ToolObserved,
)
from quarry.campaigns.facets import CAMPAIGNS
from quarry.campaigns.filters import filters_of
from quarry.campaigns.guard import stems_of
from quarry.campaigns.outcome import Outcome, Search
from quarry.campaigns.prompts import ANSWER_NOW, agent_messages
from quarry.campaigns.reading import CampaignQuestion, constraints_of, question_of, with_constraints
from quarry.campaigns.results import NOTHING, CampaignSet, KnownValues, aggregate
from quarry.campaigns.retrieval import known_values
from quarry.campaigns.tool_result import line_for_people
from quarry.campaigns.tools import (
    FILTER_CAMPAIGNS,
    FULL_TEXT_SEARCH,
    SEMANTIC_SEARCH,
    CampaignToolset,
    FilterArguments,
    SemanticArguments,
    TextArguments,
    resolve_filters,
)
from quarry.core.budget import Budget
from quarry.core.errors import DatabaseUnavailable, FieldError, InvalidInput, ModelError
from quarry.core.model.interface import Message
from quarry.core.model.step import write
from quarry.core.model.tool_loop import ToolFinished, ToolStarted, call_tools
from quarry.core.off_loop import off_loop
from quarry.core.postgres.pool import Database
from quarry.core.query.question import Clause
from quarry.core.retrieval.reading import read_question
from quarry.core.run_log import ResultRecord, Run
from quarry.core.services import Caller, Services
from quarry.core.stream.events import Event
from quarry.core.text import QUERY_MAX_CHARACTERS

MAX_TURNS = 5
"""Turns of the model for one answer; the last has no tools, so that it must answer."""
MAX_CALLS = 12
MALFORMED_MAX = 1
"""Calls with arguments that are not valid; the model may correct itself so often, then it must answer."""
ANSWER_RESERVE_SECONDS = 10.0
OBSERVED_IDS = 50
RECORDED_RESULTS = 50
VALUES_KEPT_SECONDS = 60.0
EARLIER_QUESTIONS_MAX = 5
"""So many questions back a follow-up may go for its filters."""

RESEARCH_STEP, ANSWER_STEP = "campaigns_research", "campaigns_answer"

_PIECE = re.compile(r"\S+\s*|\s+")


async def chat_about_campaigns(
    request: ChatRequest, caller: Caller, services: Services, request_id: str | None = None
) -> AsyncGenerator[Event]:
    """The events of one answer. A failing model degrades steps and never ends the stream; a failing database does.

    Raises InvalidInput when the page's filters name what does not exist.
    """
    run = Run("campaigns", caller.user_id, request.message, _budget(services), services.chat, request_id)
    with services.run_log.record(run):
        known = await values_of(services.database)
        base = await check_filters(request, known, services.database)
        asked = await _read(request, known, services)
        toolset = CampaignToolset(services, run, known, base, asked, await off_loop(_said, request))
        conversation: list[Message] = []
        outcome: Outcome | None = None
        async with aclosing(_research(request, toolset, asked, conversation)) as research:
            async for step in research:
                if isinstance(step, Outcome):
                    outcome = step
                else:
                    yield step
        pieces: list[str] = []
        async with aclosing(_write(request, toolset, asked, outcome, conversation)) as written:
            async for piece in written:
                pieces.append(piece)
                yield PartialTextEvent(data=PartialText(text=piece))
        yield FinalAnswerEvent(data=await off_loop(_response, request, toolset, asked, outcome, "".join(pieces)))


async def find_campaigns(
    filters: FilterArguments,
    caller: Caller,
    services: Services,
    *,
    query: str | None = None,
    phrase: str | None = None,
    embedding_field: EmbeddingField = "profile",
) -> CampaignSet:
    """The campaigns that pass `filters`, by meaning where there is a `query`, by their words where there is a `phrase`.

    Raises InvalidInput for values that do not exist.
    """
    given = filters.model_dump(exclude_unset=True)
    run = Run("campaigns", caller.user_id, query or phrase or str(given), _budget(services), chat=None)
    with services.run_log.record(run):
        known = await values_of(services.database)
        toolset = CampaignToolset(services, run, known)
        resolved = await resolve_filters(services.database, filters, known, filters.exclude)
        if resolved.unknown and known:
            raise InvalidInput([FieldError(f"/{each.filter}", str(each)) for each in resolved.unknown])
        tool, arguments = FILTER_CAMPAIGNS, FilterArguments()
        if query:
            tool, arguments = SEMANTIC_SEARCH, SemanticArguments(query=query, embedding_field=embedding_field)
        elif phrase:
            tool, arguments = FULL_TEXT_SEARCH, TextArguments(query=phrase)
        found = await toolset.find(tool, arguments, resolved.clauses)
        run.results = results_of(found.campaigns)
        run.end_reason = "answered" if found.total else "nothing_found"
        return found


async def check_filters(request: ChatRequest, known: KnownValues, database: Database) -> tuple[Clause, ...]:
    """The conditions that hold in every search. Raises InvalidInput, naming what comes nearest to a value that does not exist."""
    resolved = await resolve_filters(database, request.base_filters, known)
    if resolved.unknown and known:
        raise InvalidInput([FieldError(f"/activeFilters/{each.filter}", str(each)) for each in resolved.unknown])
    return resolved.clauses


async def values_of(database: Database) -> KnownValues:
    """The values that exist, looked up once a minute."""
    now = asyncio.get_running_loop().time()
    read_at, known = _known.get(database, (float("-inf"), KnownValues({})))
    # an empty domain may be filled at any moment: only what was found is remembered
    if not known or now - read_at >= VALUES_KEPT_SECONDS:
        known = await known_values(database)
        _known[database] = now, known
    return known


_known: WeakKeyDictionary[Database, tuple[float, KnownValues]] = WeakKeyDictionary()


# ---- what is asked ----


async def _read(request: ChatRequest, known: KnownValues, services: Services) -> CampaignQuestion:
    """The question as it is answered; the constraints of the request, where it has some, replace what it says."""
    asked = await _read_with(request.message, _earlier(request), known, services)
    if request.constraints is not None:
        return with_constraints(asked, request.constraints)
    return await answering.confirmed(services.database, asked)


async def _read_with(text: str, earlier: Sequence[str], known: KnownValues, services: Services) -> CampaignQuestion:
    # what is relative counts back from the latest capture: campaigns are collected, not live
    today = known.latest or datetime.datetime.now(tz=datetime.UTC).date()
    reading = await read_question(services.database, CAMPAIGNS, text, today=today, earlier=earlier)
    before = None
    if reading.question.follows_up and reading.question.topic and earlier:
        before = await _read_with(earlier[-1], earlier[:-1], known, services)
    return await off_loop(question_of, reading.parsed, reading.question, today, before)


def _earlier(request: ChatRequest) -> list[str]:
    questions = [turn.content[:QUERY_MAX_CHARACTERS] for turn in request.history if turn.role == "user"]
    return questions[-EARLIER_QUESTIONS_MAX:]


def _said(request: ChatRequest) -> frozenset[str]:
    """The stems of what the person said."""
    return stems_of([request.message, *_earlier(request)])


# ---- the searches ----


async def _research(
    request: ChatRequest, toolset: CampaignToolset, asked: CampaignQuestion, conversation: list[Message]
) -> AsyncGenerator[Event | Outcome]:
    """The model's searches; where there is no model, or it fails before it has found anything, what the reading says, and the
    outcome of that. The conversation with the model, behind its first messages, is put into `conversation`.
    """
    run = toolset.run
    if run.chat is not None:
        calls = call_tools(
            run.chat,
            _first_messages(request, toolset, asked),
            toolset.tools(),
            run,
            step_name=RESEARCH_STEP,
            max_turns=MAX_TURNS - 1,
            max_malformed=MALFORMED_MAX,
            said=conversation,
        )
        try:
            async with aclosing(calls):
                async for call in calls:
                    yield _tool_event(call, toolset)
        except DatabaseUnavailable:
            if not toolset.searches:
                raise
            run.degrade(RESEARCH_STEP)
            _forget_last_turn(conversation)
    if run.chat is None or (RESEARCH_STEP in run.degraded and not toolset.searches):
        async for step in _answer_by_reading(request, toolset, asked):
            yield step


def _forget_last_turn(conversation: list[Message]) -> None:
    """Drop the model's last turn, which broke off: a model must be told the result of every call it made."""
    turns = [place for place, message in enumerate(conversation) if message.role == "assistant"]
    del conversation[turns[-1] :]


def _first_messages(request: ChatRequest, toolset: CampaignToolset, asked: CampaignQuestion) -> list[Message]:
    return agent_messages(request.message, request.history, toolset.known, request.base_filters, asked)


def _tool_event(event: ToolStarted | ToolFinished, toolset: CampaignToolset) -> Event:
    if isinstance(event, ToolStarted):
        return ToolCallEvent(data=ToolCalled(id=event.id, tool=event.tool, arguments=_given(event.arguments)))
    found = toolset.found_by.get(event.result.text_for_model, NOTHING).campaigns
    return _observation(event.id, event.tool, event.result.count, event.result.summary, found)


async def _answer_by_reading(
    request: ChatRequest, toolset: CampaignToolset, asked: CampaignQuestion
) -> AsyncIterator[Event | Outcome]:
    """The one search that the reading asks for, and its outcome."""
    tool, id = _tool_for(asked), "call_1"
    toolset.run.budget.spend_call()
    yield ToolCallEvent(data=ToolCalled(id=id, tool=tool, arguments=_arguments(toolset, asked)))
    with toolset.run.step(tool) as record:
        outcome = await _outcome(request, toolset, asked)
        record.counts["campaigns"] = outcome.found.total
    found = outcome.found
    toolset.searches.append(Search(tool, asked.clauses, found))
    yield _observation(id, tool, found.total, line_for_people(found), found.campaigns)
    yield outcome


async def _outcome(request: ChatRequest, toolset: CampaignToolset, asked: CampaignQuestion) -> Outcome:
    database, earlier = toolset.services.database, _earlier(request)
    if asked.question.references and earlier:
        before = await _read_with(earlier[-1], earlier[:-1], toolset.known, toolset.services)
        vector = await toolset.vector(before.theme) if before.theme else None
        shown = await answering.answer_question(database, before, toolset.base, vector)
        return await answering.pick(database, asked, shown.found.campaigns)
    vector = await toolset.vector(asked.theme) if asked.theme else None
    return await answering.answer_question(database, asked, toolset.base, vector)


def _tool_for(asked: CampaignQuestion) -> str:
    """The tool that finds the campaigns which a question is about."""
    if asked.says:
        return FULL_TEXT_SEARCH
    return SEMANTIC_SEARCH if asked.theme and asked.ask.kind in ("rows", "exists") else FILTER_CAMPAIGNS


def _arguments(toolset: CampaignToolset, asked: CampaignQuestion) -> dict[str, Any]:
    """What is searched for, as the tools take it."""
    query = asked.says or asked.theme
    return filters_of(asked.clauses, toolset.known.latest).given() | ({"query": query} if query else {})


# ---- the answer ----


async def _write(
    request: ChatRequest,
    toolset: CampaignToolset,
    asked: CampaignQuestion,
    outcome: Outcome | None,
    conversation: Sequence[Message],
) -> AsyncGenerator[str]:
    """The answer as it comes: the model's, or one composed of what was found."""
    run = toolset.run
    with run.step(ANSWER_STEP) as record:
        if run.chat is not None and outcome is None:
            if (text := _own_words(conversation)) is not None:
                for piece in _PIECE.findall(text):
                    yield piece
                    # let each piece leave before the next
                    await asyncio.sleep(0)
                return
            has_written = False
            try:
                # the last turn, without tools
                messages = [*_first_messages(request, toolset, asked), *conversation, Message("user", ANSWER_NOW)]
                async with aclosing(write(messages, run, run.chat, record)) as pieces:
                    async for piece in pieces:
                        has_written = has_written or bool(piece.strip())
                        yield piece
                return
            except ModelError:
                run.degrade(ANSWER_STEP, record)
            if has_written:
                yield "\n\n"
        for piece in _PIECE.findall(await off_loop(_composed, toolset, asked, outcome)):
            yield piece
            await asyncio.sleep(0)


def _own_words(conversation: Sequence[Message]) -> str | None:
    """The text with which the model ended its research; None where it did not."""
    last = conversation[-1] if conversation else None
    return last.content if last and last.role == "assistant" and not last.tool_calls else None


def _composed(toolset: CampaignToolset, asked: CampaignQuestion, outcome: Outcome | None) -> str:
    if outcome is None:
        search = toolset.last_found
        if search is None:
            return "The campaigns could not be searched for this; ask again in a moment."
        # the model searched: its conditions are what the set is described by
        outcome = fallbacks.outcome_of(asked, search)
    return fallbacks.compose_answer(outcome, toolset.known)


def _response(
    request: ChatRequest, toolset: CampaignToolset, asked: CampaignQuestion, outcome: Outcome | None, text: str
) -> ChatResponse:
    run, search = toolset.run, toolset.last_found
    found = search.found if search else NOTHING
    spoken_of = _spoken_of(asked, outcome, text, found)
    whole = len(spoken_of) == len(found.campaigns)
    run.results = results_of(spoken_of)
    end_reason = _end_reason(toolset)
    run.end_reason = end_reason
    clauses = search.clauses if search else asked.clauses
    return ChatResponse(
        response=text,
        campaigns=spoken_of,
        total=found.total if whole or outcome else len(spoken_of),
        aggregation=(found.aggregation if whole else aggregate(spoken_of))
        if found.total and not (whole and found.more)
        else None,
        suggestions=fallbacks.suggest(asked.ask, found, toolset.known),
        detected_filters=fallbacks.detected(filters_of(clauses, toolset.known.latest), request.base_filters),
        constraints=constraints_of(asked),
        telemetry=Telemetry(
            run_id=str(run.id),
            turn_count=run.budget.turns,
            tool_call_count=run.budget.calls,
            end_reason=end_reason,
            degraded_steps=run.degraded,
        ),
    )


def _spoken_of(asked: CampaignQuestion, outcome: Outcome | None, text: str, found: CampaignSet) -> list[Campaign]:
    if outcome is None:
        return fallbacks.campaigns_spoken_of(text, found)
    limit = asked.ask.limit if asked.ask.kind == "rows" else None
    return list(found.campaigns[:limit])


def _end_reason(toolset: CampaignToolset) -> EndReason:
    if toolset.searches and not any(search.found.total for search in toolset.searches):
        return "nothing_found"
    budget = toolset.run.budget
    spent = budget.turns >= MAX_TURNS or not budget.calls_left or not budget.seconds_for_work
    return "budget_spent" if toolset.run.chat is not None and spent else "answered"


def results_of(campaigns: Sequence[Campaign]) -> list[ResultRecord]:
    """The first campaigns as results of a run; their score is the inverse of their place."""
    return [
        ResultRecord("campaign", campaign.id, 1.0 / place)
        for place, campaign in enumerate(campaigns[:RECORDED_RESULTS], start=1)
    ]


def _observation(id: str, tool: str, count: int, summary: str, found: Sequence[Campaign]) -> ToolObservationEvent:
    ids = [campaign.id for campaign in found[:OBSERVED_IDS]]
    return ToolObservationEvent(data=ToolObserved(id=id, tool=tool, count=count, summary=summary, campaign_ids=ids))


def _given(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value != []}


def _budget(services: Services) -> Budget:
    settings = services.settings
    return Budget(
        max_turns=MAX_TURNS,
        max_calls=MAX_CALLS,
        max_seconds=settings.campaigns_chat_seconds,
        max_tokens=settings.campaigns_chat_tokens,
        reserved_seconds=min(ANSWER_RESERVE_SECONDS, settings.campaigns_chat_seconds / 2),
    )
