"""A company search as a stream of events.

Read `_search` from top to bottom. A company that the question asks about by name ends the search at once. Else each round plans,
retrieves, filters, ranks and decides whether that is enough; then the answer is written. A plan that asks for a number ends in a
count.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from uuid import UUID

from quarry.companies.activity import Timeline, counted
from quarry.companies.answer import Result, conclude, conclude_counted, final_answer, write_answer
from quarry.companies.context import Asked, Context, Round
from quarry.companies.contract import ChatRequest, FinalAnswerEvent
from quarry.companies.counting import count, counted_in_words
from quarry.companies.critique import criticise
from quarry.companies.fitting import keep_fitting
from quarry.companies.name_lookup import look_up_names
from quarry.companies.planning import make_plan
from quarry.companies.rerank import rerank
from quarry.companies.retrieval import retrieve
from quarry.platform.budget import Budget
from quarry.platform.errors import DatabaseUnavailable, QuarryError, TimeIsUp
from quarry.platform.settings import Settings
from quarry.query.algebra import Query
from quarry.runs.run_log import ResultRecord
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event, PartialText, PartialTextEvent

TURNS_PER_ITERATION = 6
"""Plan, ranking and critique, each with one repair."""
ANSWER_RESERVE_SECONDS = 15.0


async def search_companies(
    request: ChatRequest,
    caller: Caller,
    services: Services,
    request_id: str | None = None,
    run_id: UUID | None = None,
) -> AsyncGenerator[Event]:
    """The events of one search: steps, the answer's text in pieces, and last the whole answer.

    A failing model degrades steps and never ends the stream; a failing database does, with its QuarryError. Closing the
    generator stops the search before the next step.
    """
    settings = services.settings
    budget, asked = _budget(settings), request.as_asked()
    with services.run("companies", caller, request.question, asked, budget, request_id, run_id) as run:
        run.session_id = request.session_id or str(run.id)
        timeline = Timeline(run)
        try:
            async with aclosing(_search(Context(request, caller, services, run, settings), timeline)) as events:
                async for event in events:
                    yield event
        except QuarryError:
            if (failed := timeline.broken_off()) is not None:
                yield failed
            raise


async def _search(context: Context, timeline: Timeline) -> AsyncGenerator[Event]:
    with timeline.step("names", "Looking for a company with that name") as step:
        yield step.event
        async with context.in_time():
            asked = await look_up_names(context)
            context = replace(context, settings=await context.services.tuned_settings())
        step.detail = asked.detail
    yield step.event

    now = Round(asked, end_reason="exact_match" if asked.exact else None)
    while (now := _within_limits(context, now)).end_reason is None:
        now = replace(now, nth=now.nth + 1)
        context.run.iterations = now.nth
        async with aclosing(_round(context, timeline, now)) as steps:
            async for taken in steps:
                if isinstance(taken, Round):
                    now = taken
                    continue
                yield taken
                if isinstance(taken, FinalAnswerEvent):
                    return

    if not (asked.exact or now.ranking.ranked or now.found.pool or context.run.budget.seconds_left):
        raise TimeIsUp
    with timeline.step("answer", "Writing the answer") as step:
        yield step.event
        result = await conclude(context, now)
        content = ""
        async with aclosing(write_answer(context, result)) as pieces:
            async for piece in pieces:
                content += piece
                yield PartialTextEvent(data=PartialText(text=piece))
    yield step.event
    yield _ended(context, result, content)


def _ended(context: Context, result: Result, content: str) -> FinalAnswerEvent:
    context.run.results = [ResultRecord("company", each.company_id, each.confidence) for each in result.chosen]
    context.run.end_reason = result.end_reason
    return FinalAnswerEvent(data=final_answer(context, result, content))


async def _counted(context: Context, timeline: Timeline, asked: Asked, query: Query) -> AsyncGenerator[Event]:
    """The events of a question that asks for a number. There is no final answer if the query is invalid."""
    with timeline.step("count", "Counting companies") as step:
        yield step.event
        with context.run.step("count_companies") as record:
            context.run.budget.spend_call()
            async with context.in_time():
                told = await count(query, context.caller, context.services)
            record.counts["found"] = told.result.total if told else 0
        step.detail = counted(told.result.total, "company", "companies") if told else "not to be counted"
    yield step.event
    if told is None:
        return
    content = counted_in_words(told)
    yield PartialTextEvent(data=PartialText(text=content))
    yield _ended(context, conclude_counted(asked, told), content)


async def _round(context: Context, timeline: Timeline, now: Round) -> AsyncGenerator[Event | Round]:
    """The events of the steps of one round, and the state of the search after each."""
    for id, label, take in _STEPS:
        if now.end_reason is not None or context.is_late(bool(now.ranking.ranked)):
            return
        if not (said := label(context, now)):
            continue
        with timeline.step(f"{id}_{now.nth}", said) as step:
            yield step.event
            now, step.detail = await _taken(context, now, take)
        yield step.event
        yield now
        if id == "plan" and now.nth == 1 and now.planned.asks is not None and context.may_call():
            async with aclosing(_counted(context, timeline, now.asked, now.planned.asks)) as events:
                async for event in events:
                    yield event


Take = Callable[[Context, Round], Awaitable[tuple[Round, str]]]
"""A step: returns the state of the search, and the result in a line."""


async def _taken(context: Context, now: Round, take: Take) -> tuple[Round, str]:
    """The state of the search after a step. If the step fails after companies were ranked, these are the answer."""
    try:
        async with context.in_time():
            return await take(context, now)
    except (DatabaseUnavailable, TimeIsUp):
        if not now.ranking.ranked:
            raise
        context.run.degrade("company_search")
        return replace(now, is_cut_short=True, end_reason="guardrail_hit"), "not finished"


def _plan_label(context: Context, now: Round) -> str:
    goes_on = now.plan is not None and not now.stuck and (now.plan.pending or now.plan.is_new)
    return "" if goes_on else "Planning the search"


def _search_label(context: Context, now: Round) -> str:
    plan = now.planned
    phrasings = min(len(plan.pending), context.settings.company_variants_executed)
    if not phrasings:
        return "Searching by the new plan" if plan.is_new else ""
    return f"Searching {counted(phrasings, 'phrasing')}"


def _rank_label(context: Context, now: Round) -> str:
    count = len(now.found.fitting[: context.settings.company_reranked_max])
    return f"Ranking {counted(count, 'company', 'companies')}" if count else ""


_STEPS: tuple[tuple[str, Callable[[Context, Round], str], Take], ...] = (
    ("plan", _plan_label, make_plan),
    ("search", _search_label, retrieve),
    ("filter", lambda context, now: "Filtering", keep_fitting),
    ("rank", _rank_label, rerank),
    ("critique", lambda context, now: "Checking whether that is enough", criticise),
)
"""The steps of a round with their ids and labels. A step with an empty label is skipped."""


def _within_limits(context: Context, now: Round) -> Round:
    """The same state, ended if the limits allow no more rounds."""
    if now.end_reason is not None:
        return now
    has_ranked = bool(now.ranking.ranked)
    is_spent = context.is_out_of_tokens or not context.may_call(has_ranked=has_ranked)
    is_cut_short = now.is_cut_short or is_spent
    if is_cut_short or now.nth >= context.settings.company_max_iterations:
        return replace(now, is_cut_short=is_cut_short, end_reason="guardrail_hit")
    return now


def _budget(settings: Settings) -> Budget:
    return Budget(
        max_turns=settings.company_max_iterations * TURNS_PER_ITERATION + 1,
        max_calls=settings.company_max_tool_calls,
        max_seconds=settings.company_max_seconds,
        max_tokens=settings.company_max_tokens,
        reserved_seconds=min(ANSWER_RESERVE_SECONDS, settings.company_max_seconds / 4),
    )
