"""Answering a question about campaigns, as a stream of events.

Read `chat_about_campaigns` from top to bottom: the question is read once; the model asks its tools and writes, or, without one
or where its answer would rest on nothing that it looked up, what the reading says is answered; the campaigns that it speaks of.
"""

from __future__ import annotations

import asyncio
import datetime
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

from quarry.campaigns import execution, fallbacks
from quarry.campaigns.answer import conclude, results_of
from quarry.campaigns.by_model import MAX_TURNS, PARAGRAPH, Led, observation
from quarry.campaigns.checks import check_constraints, check_filters, check_values
from quarry.campaigns.contract import ChatRequest, EmbeddingField, FinalAnswerEvent, ToolCalled, ToolCallEvent
from quarry.campaigns.facets import CAMPAIGNS
from quarry.campaigns.filters import filters_of
from quarry.campaigns.reading import CampaignQuestion, question_of, with_constraints, with_days
from quarry.campaigns.results import CampaignSet, KnownValues, Outcome, Search
from quarry.campaigns.retrieval import known_values
from quarry.campaigns.tool_result import line_for_people
from quarry.campaigns.tools import (
    FILTER_CAMPAIGNS,
    FULL_TEXT_SEARCH,
    SEMANTIC_SEARCH,
    STEP,
    CampaignToolset,
    FilterArguments,
    SemanticArguments,
    TextArguments,
)
from quarry.platform.budget import Budget
from quarry.platform.errors import ModelError
from quarry.platform.off_loop import off_loop
from quarry.platform.text import QUERY_MAX_CHARACTERS
from quarry.postgres.pool import Database
from quarry.retrieval.reading import read_question
from quarry.runs.run_log import Run
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event, PartialText, PartialTextEvent

MAX_CALLS = 12
ANSWER_RESERVE_SECONDS = 10.0
VALUES_KEPT_SECONDS = 60.0
EARLIER_QUESTIONS_MAX = 5
"""So many questions back a follow-up may go for its filters."""

_PIECE = re.compile(r"\S+\s*|\s+")


async def chat_about_campaigns(
    request: ChatRequest,
    caller: Caller,
    services: Services,
    request_id: str | None = None,
    run_id: UUID | None = None,
) -> AsyncGenerator[Event]:
    """The events of one answer. A failing model degrades steps and never ends the stream; a failing database does.

    Raises InvalidInput when the page's filters name what does not exist.
    """
    budget, said = _budget(services), request.as_asked()
    with services.run("campaigns", caller, request.message, said, budget, request_id, run_id) as run:
        known = await values_of(services.reader)
        base = await check_filters(request, known, services.reader)
        asked = await _read(await check_constraints(request, services.reader), known, services)
        toolset = CampaignToolset(services, caller, run, known, base)
        if request.constraints is not None:
            toolset.given, toolset.preferred = asked.clauses, asked.preferred
        led = Led(request, toolset, asked)
        outcome: Outcome | None = None
        if run.chat is not None:
            try:
                async with aclosing(led.answered()) as events:
                    async for event in events:
                        yield event
            except ModelError:
                led.is_grounded = False
            if not led.is_grounded:
                run.degrade(STEP)
        text = led.text
        if run.chat is None or not led.is_grounded:
            async for step in _answer_by_reading(toolset, asked):
                if isinstance(step, Outcome):
                    outcome = step
                else:
                    yield step
            assert outcome is not None
            composed = await off_loop(fallbacks.compose_answer, outcome, known)
            for piece in _PIECE.findall(f"{PARAGRAPH}{composed}" if text else composed):
                text += piece
                yield PartialTextEvent(data=PartialText(text=piece))
        unsupported = await off_loop(led.unsupported)
        yield FinalAnswerEvent(data=await conclude(request, toolset, asked, outcome, text, unsupported))


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
    given = filters.model_dump(mode="json", by_alias=True, exclude_unset=True)
    run = Run("campaigns", caller.user_id, query or phrase or str(given), _budget(services), chat=None)
    run.request = {"filters": given, "query": query, "phrase": phrase, "embedding_field": embedding_field}
    with services.run_log.record(run):
        known = await values_of(services.reader)
        toolset = CampaignToolset(services, caller, run, known)
        clauses = await check_values(filters, known, services.reader, exclude=filters.exclude)
        tool, arguments = FILTER_CAMPAIGNS, FilterArguments()
        if query:
            tool, arguments = SEMANTIC_SEARCH, SemanticArguments(query=query, embedding_field=embedding_field)
        elif phrase:
            tool, arguments = FULL_TEXT_SEARCH, TextArguments(query=phrase)
        found = await toolset.find(tool, arguments, clauses)
        run.results = results_of(found.campaigns)
        run.end_reason = "answered" if found.total else "nothing_found"
        return found


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
    # what is relative counts back from the latest capture: campaigns are collected, not live
    today = known.latest or datetime.datetime.now(tz=datetime.UTC).date()
    reading = await read_question(services.reader, CAMPAIGNS, request.message, today=today, earlier=_earlier(request))
    asked = await off_loop(question_of, reading, today)
    if request.constraints is not None:
        asked = with_constraints(asked, request.constraints)
    else:
        asked = await execution.confirmed(services.reader, asked)
    return with_days(asked, known.earliest, known.latest)


def _earlier(request: ChatRequest) -> list[str]:
    questions = [turn.content[:QUERY_MAX_CHARACTERS] for turn in request.history if turn.role == "user"]
    return questions[-EARLIER_QUESTIONS_MAX:]


# ---- the searches ----


async def _answer_by_reading(toolset: CampaignToolset, asked: CampaignQuestion) -> AsyncIterator[Event | Outcome]:
    """The one search that the reading asks for, and its outcome."""
    tool, id = _tool_for(asked), "call_1"
    toolset.run.budget.spend_call()
    yield ToolCallEvent(data=ToolCalled(id=id, tool=tool, arguments=_arguments(toolset, asked)))
    with toolset.run.step(tool) as record:
        outcome = await _outcome(toolset, asked)
        record.counts["campaigns"] = outcome.found.total
    found = outcome.found
    toolset.searches.append(Search(tool, asked.clauses, found))
    yield observation(id, tool, found.total, line_for_people(found), found.campaigns)
    yield outcome


async def _outcome(toolset: CampaignToolset, asked: CampaignQuestion) -> Outcome:
    if asked.picks and asked.earlier:
        shown = await _outcome(toolset, asked.earlier)
        limit = asked.earlier.ask.limit if asked.earlier.ask.kind == "rows" else None
        return await execution.pick(toolset.services.reader, asked, shown.found.campaigns[:limit])
    services = toolset.services
    vector = await services.queries.embed_for(toolset.run, asked.theme) if asked.theme else None
    return await execution.execute(services.reader, asked, toolset.base, vector)


def _tool_for(asked: CampaignQuestion) -> str:
    """The tool that finds the campaigns which a question is about."""
    if asked.says:
        return FULL_TEXT_SEARCH
    return SEMANTIC_SEARCH if asked.theme and asked.ask.kind in ("rows", "exists") else FILTER_CAMPAIGNS


def _arguments(toolset: CampaignToolset, asked: CampaignQuestion) -> dict[str, Any]:
    """What is searched for, as the tools take it."""
    query = asked.says or asked.theme
    return filters_of(asked.clauses, toolset.known.latest).given() | ({"query": query} if query else {})


def _budget(services: Services) -> Budget:
    settings = services.settings
    return Budget(
        max_turns=MAX_TURNS,
        max_calls=MAX_CALLS,
        max_seconds=settings.campaigns_chat_seconds,
        max_tokens=settings.campaigns_chat_tokens,
        reserved_seconds=min(ANSWER_RESERVE_SECONDS, settings.campaigns_chat_seconds / 2),
    )
