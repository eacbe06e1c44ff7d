"""Answering a question about campaigns, as a stream of events.

Read `chat_about_campaigns` from top to bottom: the model's searches while its budget lasts, or the one that a rule chooses; the
answer as it is written; the set of campaigns that it speaks of.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from quarry.campaigns import standins
from quarry.campaigns.contract import (
    Campaign,
    CampaignFilters,
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
from quarry.campaigns.filters import AppliedFilters, UnknownValue, resolve
from quarry.campaigns.found import NOTHING, CampaignSet, KnownValues, aggregate
from quarry.campaigns.prompts import ANSWER_NOW, agent_messages
from quarry.campaigns.retrieval import known_values
from quarry.campaigns.router import Routed, route
from quarry.campaigns.tool_result import line_for_people
from quarry.campaigns.tools import (
    FILTER_CAMPAIGNS,
    FULL_TEXT_SEARCH,
    SEMANTIC_SEARCH,
    CampaignDesk,
    FilterArguments,
    SemanticArguments,
    TextArguments,
)
from quarry.core.budget import Budget
from quarry.core.errors import DatabaseUnavailable, FieldError, InvalidInput, ModelError
from quarry.core.model.interface import Message
from quarry.core.model.step import write
from quarry.core.model.tool_loop import ToolFinished, ToolStarted, call_tools
from quarry.core.off_loop import off_loop
from quarry.core.postgres.pool import Database
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

_ARGUMENTS: dict[str, type[CampaignFilters]] = {
    FILTER_CAMPAIGNS: FilterArguments,
    SEMANTIC_SEARCH: SemanticArguments,
    FULL_TEXT_SEARCH: TextArguments,
}
_TOOLS = {arguments: name for name, arguments in _ARGUMENTS.items()}
_PIECE = re.compile(r"\S+\s*|\s+")


@dataclass
class _Answer:
    """What has been said so far, and how it came about."""

    text: str = ""
    said: list[Message] = field(default_factory=list)
    """The conversation with the model, behind its first messages."""
    routed: Routed | None = None
    unknown: list[UnknownValue] = field(default_factory=list)

    def forget_last_turn(self) -> None:
        """Drop the model's last turn, which broke off: a model must be told the result of every call it made."""
        turns = [place for place, message in enumerate(self.said) if message.role == "assistant"]
        del self.said[turns[-1] :]

    @property
    def own_words(self) -> str | None:
        """The text with which the model ended its research; None where it did not."""
        last = self.said[-1] if self.said else None
        return last.content if last and last.role == "assistant" and not last.tool_calls else None


async def chat_about_campaigns(
    request: ChatRequest, caller: Caller, services: Services, request_id: str | None = None
) -> AsyncGenerator[Event]:
    """The events of one answer. A failing model degrades steps and never ends the stream; a failing database does.

    Raises InvalidInput when the page's filters name what does not exist.
    """
    run = Run("campaigns", caller.user_id, request.message, _budget(services), services.chat, request_id)
    with services.run_log.record(run):
        known = await values_of(services.database)
        desk = CampaignDesk(services, run, known, await off_loop(check_filters, request, known))
        answer = _Answer()
        async with aclosing(_research(request, desk, answer)) as research:
            async for event in research:
                yield event
        async with aclosing(_write(request, desk, answer)) as pieces:
            async for piece in pieces:
                answer.text += piece
                yield PartialTextEvent(data=PartialText(text=piece))
        yield FinalAnswerEvent(data=await off_loop(_response, request, desk, answer))


async def find_campaigns(
    filters: CampaignFilters,
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
    asked = filters.given()
    run = Run("campaigns", caller.user_id, query or phrase or str(asked), _budget(services), chat=None)
    with services.run_log.record(run):
        desk = CampaignDesk(services, run, await values_of(services.database), AppliedFilters())
        if query:
            arguments: CampaignFilters = SemanticArguments(query=query, embedding_field=embedding_field, **asked)
        else:
            arguments = TextArguments(query=phrase, **asked) if phrase else FilterArguments(**asked)
        found, unknown = await desk.search(_TOOLS[type(arguments)], arguments)
        if unknown and desk.known:
            raise InvalidInput([FieldError(f"/{each.filter}", str(each)) for each in unknown])
        run.results = results_of(found.campaigns)
        run.end_reason = "answered" if found.total else "nothing_found"
        return found


def check_filters(request: ChatRequest, known: KnownValues) -> AppliedFilters:
    """The filters that hold in every search. Raises InvalidInput, naming what comes nearest to a value that does not exist."""
    base, unknown = resolve(request.base_filters, known)
    if unknown and known:
        raise InvalidInput([FieldError(f"/activeFilters/{each.filter}", str(each)) for each in unknown])
    return base


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


async def _research(request: ChatRequest, desk: CampaignDesk, answer: _Answer) -> AsyncGenerator[Event]:
    """The model's searches; where there is no model, or it fails before it has found anything, the one that a rule chooses."""
    run = desk.run
    if run.chat is not None:
        calls = call_tools(
            run.chat,
            _first_messages(request, desk),
            desk.tools(),
            run,
            step_name=RESEARCH_STEP,
            max_turns=MAX_TURNS - 1,
            max_malformed=MALFORMED_MAX,
            said=answer.said,
        )
        try:
            async with aclosing(calls):
                async for step in calls:
                    yield _tool_event(step, desk)
        except DatabaseUnavailable:
            if not desk.searches:
                raise
            run.degrade(RESEARCH_STEP)
            answer.forget_last_turn()
    if run.chat is None or (RESEARCH_STEP in run.degraded and not desk.searches):
        async for event in _rule_search(request, desk, answer):
            yield event


def _first_messages(request: ChatRequest, desk: CampaignDesk) -> list[Message]:
    return agent_messages(request.message, request.history, desk.known, request.base_filters)


def _tool_event(event: ToolStarted | ToolFinished, desk: CampaignDesk) -> Event:
    if isinstance(event, ToolStarted):
        return ToolCallEvent(data=ToolCalled(id=event.id, tool=event.tool, arguments=_given(event.arguments)))
    found = desk.found_by.get(event.result.text_for_model, NOTHING).campaigns
    return _observation(event.id, event.tool, event.result.count, event.result.summary, found)


async def _rule_search(request: ChatRequest, desk: CampaignDesk, answer: _Answer) -> AsyncIterator[Event]:
    """The search that a rule chooses. Where nothing is near its theme, what passes its filters is better than nothing."""
    earlier = [turn.content[:QUERY_MAX_CHARACTERS] for turn in request.history if turn.role == "user"]
    routed = await off_loop(route, request.message, earlier[-EARLIER_QUESTIONS_MAX:], desk.known)
    for number, tried in enumerate((routed, routed.without_query), start=1):
        answer.routed = tried
        query = {"query": tried.query} if tried.query else {}
        arguments = _ARGUMENTS[tried.route].model_validate(tried.filters.given() | query)
        desk.run.budget.spend_call()
        id = f"call_{number}"
        yield ToolCallEvent(data=ToolCalled(id=id, tool=tried.route, arguments=arguments.given()))
        found, answer.unknown = await desk.search(tried.route, arguments)
        summary = standins.unknown_answer(answer.unknown) or line_for_people(found)
        yield _observation(id, tried.route, found.total, summary, found.campaigns)
        if found.total or routed.route != SEMANTIC_SEARCH or not routed.filters.given():
            return


async def _write(request: ChatRequest, desk: CampaignDesk, answer: _Answer) -> AsyncGenerator[str]:
    """The answer as it comes: the model's, or one composed of what was found."""
    run = desk.run
    with run.step(ANSWER_STEP) as record:
        if run.chat is not None and answer.routed is None:
            if (text := answer.own_words) is not None:
                for piece in _PIECE.findall(text):
                    yield piece
                    # let each piece leave before the next
                    await asyncio.sleep(0)
                return
            try:
                # the last turn, without tools
                messages = [*_first_messages(request, desk), *answer.said, Message("user", ANSWER_NOW)]
                async with aclosing(write(messages, run, run.chat, record)) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except ModelError:
                run.degrade(ANSWER_STEP, record)
            if answer.text.strip():
                yield "\n\n"
        for piece in _PIECE.findall(await off_loop(_composed, request, desk, answer)):
            yield piece
            await asyncio.sleep(0)


def _composed(request: ChatRequest, desk: CampaignDesk, answer: _Answer) -> str:
    if answer.unknown:
        return standins.unknown_answer(answer.unknown)
    routed = answer.routed or route(request.message, [], desk.known)
    search = desk.last_found
    if search is None:
        return "The campaigns could not be searched for this; ask again in a moment."
    if answer.routed is None:
        # the model searched: its filters are what the set is described by
        routed = Routed("filter_campaigns", search.filters, routed.asked, routed.most_common)
    return standins.compose_answer(routed, search.found)


def _response(request: ChatRequest, desk: CampaignDesk, answer: _Answer) -> ChatResponse:
    run, search = desk.run, desk.last_found
    found = search.found if search else NOTHING
    spoken_of = list(found.campaigns) if answer.routed else standins.campaigns_spoken_of(answer.text, found)
    whole = len(spoken_of) == len(found.campaigns)
    total = found.total if whole else len(spoken_of)
    run.results = results_of(spoken_of)
    end_reason = _end_reason(desk)
    run.end_reason = end_reason
    routed = answer.routed or Routed("filter_campaigns", search.filters if search else CampaignFilters())
    return ChatResponse(
        response=answer.text,
        campaigns=spoken_of,
        total=total,
        aggregation=(found.aggregation if whole else aggregate(spoken_of))
        if found.total and not (whole and found.more)
        else None,
        suggestions=standins.suggest(routed, found, desk.known),
        detected_filters=standins.detected(routed.filters, request.base_filters),
        telemetry=Telemetry(
            run_id=str(run.id),
            turn_count=run.budget.turns,
            tool_call_count=run.budget.calls,
            end_reason=end_reason,
            degraded_steps=run.degraded,
        ),
    )


def _end_reason(desk: CampaignDesk) -> EndReason:
    if desk.searches and not any(search.found.total for search in desk.searches):
        return "nothing_found"
    budget = desk.run.budget
    spent = budget.turns >= MAX_TURNS or not budget.calls_left or not budget.seconds_for_work
    return "budget_spent" if desk.run.chat is not None and spent else "answered"


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
