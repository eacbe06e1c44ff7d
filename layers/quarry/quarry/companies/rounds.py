"""The rounds of a search: each plans, retrieves, filters, ranks and decides whether that is enough."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace

from quarry.companies.activity import Timeline, counted
from quarry.companies.answer import Result, conclude
from quarry.companies.context import Context, Round
from quarry.companies.critique import criticise
from quarry.companies.fitting import keep_fitting
from quarry.companies.planning import make_plan
from quarry.companies.rerank import rerank
from quarry.companies.retrieval import retrieve
from quarry.platform.budget import Budget
from quarry.platform.errors import DatabaseUnavailable, TimeIsUp
from quarry.platform.settings import Settings
from quarry.streaming.events import Event

TURNS_PER_ITERATION = 6
"""Plan, ranking and critique, each with one repair."""
ANSWER_TURNS = 7
"""The turns of a model that leads, and the text of an answer."""
ANSWER_RESERVE_SECONDS = 15.0


async def rounds(context: Context, timeline: Timeline, now: Round) -> AsyncGenerator[Event | Result]:
    """The events of the rounds of a search, and last its result. Raises TimeIsUp if there was no time to find anything."""
    while (now := _within_limits(context, now)).end_reason is None:
        context.run.iterations += 1
        now = replace(now, nth=context.run.iterations)
        async with aclosing(_round(context, timeline, now)) as steps:
            async for taken in steps:
                if isinstance(taken, Round):
                    now = taken
                else:
                    yield taken
    if not (now.inquiry.exact or now.ranking.ranked or now.found.pool or context.run.budget.seconds_left):
        raise TimeIsUp
    yield await conclude(context, now)


async def _round(context: Context, timeline: Timeline, now: Round) -> AsyncGenerator[Event | Round]:
    """The events of the steps of one round, and the state of the search after each."""
    for id, label, take in _STEPS:
        if now.end_reason is not None or context.is_late(bool(now.ranking.ranked)):
            return
        if not (name := label(context, now)):
            continue
        with timeline.step(f"{id}_{now.nth}", name) as step:
            yield step.event
            now, step.detail = await _taken(context, now, take)
        yield step.event
        yield now


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
    if is_cut_short or context.run.iterations >= context.settings.company_max_iterations:
        return replace(now, is_cut_short=is_cut_short, end_reason="guardrail_hit")
    return now


def budget_of(settings: Settings) -> Budget:
    """The limits of one search."""
    return Budget(
        max_turns=settings.company_max_iterations * TURNS_PER_ITERATION + ANSWER_TURNS,
        max_calls=settings.company_max_tool_calls,
        max_seconds=settings.company_max_seconds,
        max_tokens=settings.company_max_tokens,
        reserved_seconds=min(ANSWER_RESERVE_SECONDS, settings.company_max_seconds / 4),
    )
