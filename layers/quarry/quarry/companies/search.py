"""A company search as a stream of events.

Read `search_companies` from top to bottom: a company that is named outright ends the search at once; else plan, search for all
phrasings, keep what fits, rank it and ask whether that is enough, until it is; then the answer is written from what was ranked.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing

from quarry.companies.activity import Timeline, counted
from quarry.companies.contract import ChatRequest, FinalAnswerEvent, PartialText, PartialTextEvent
from quarry.companies.finalisation import choose, final_answer, write_answer
from quarry.companies.gathering import gather, keep_fitting
from quarry.companies.judging import criticise, rank
from quarry.companies.limits import CompanyLimits
from quarry.companies.naming import look_for_names
from quarry.companies.planning import make_plan
from quarry.companies.state import SearchState
from quarry.core.budget import Budget, in_time
from quarry.core.errors import DatabaseUnavailable, QuarryError, TimeIsUp
from quarry.core.off_loop import off_loop
from quarry.core.run_log import ResultRecord, Run
from quarry.core.services import Caller, Services
from quarry.core.stream.events import Event

TURNS_PER_ITERATION = 6
"""Plan, ranking and critique, each with one repair."""
ANSWER_RESERVE_SECONDS = 15.0


async def search_companies(
    request: ChatRequest, caller: Caller, services: Services, request_id: str | None = None
) -> AsyncGenerator[Event]:
    """The events of one search: steps, the answer's text in pieces, and last the whole answer.

    A failing model degrades steps and never ends the stream; a failing database does, with its QuarryError. Closing the generator
    stops the search before its next step.
    """
    limits = CompanyLimits.of(services.settings)
    run = Run("companies", caller.user_id, request.question, _budget(limits), services.chat, request_id)
    timeline = Timeline(run)
    with services.run_log.record(run):
        try:
            state = await off_loop(SearchState, request, services, run, limits)
            async with aclosing(_search(state, timeline)) as events:
                async for event in events:
                    yield event
        except QuarryError:
            if (failed := timeline.broken_off()) is not None:
                yield failed
            raise


async def _search(state: SearchState, timeline: Timeline) -> AsyncGenerator[Event]:
    with timeline.step("names", "Looking for a company of that name") as step:
        yield step.event
        step.detail = await look_for_names(state)
    yield step.event

    while may_go_on(state):
        state.iteration += 1
        for id, label, take in _steps(state):
            if state.is_over:
                break
            with timeline.step(id, label) as step:
                yield step.event
                step.detail = await _take(take, state)
            yield step.event

    if not (state.exact or state.ranked or state.pool or state.run.budget.seconds_left):
        raise TimeIsUp
    chosen = choose(state)
    content = ""
    with timeline.step("answer", "Writing the answer") as step:
        yield step.event
        async with aclosing(write_answer(state, chosen)) as pieces:
            async for piece in pieces:
                content += piece
                yield PartialTextEvent(data=PartialText(text=piece))
    yield step.event
    state.run.results = [ResultRecord("company", ranked.company_id, ranked.confidence) for ranked in chosen]
    state.run.end_reason = state.end_reason
    yield FinalAnswerEvent(data=final_answer(state, chosen, content))


Take = Callable[[SearchState], Awaitable[str]]


def _steps(state: SearchState) -> Iterator[tuple[str, str, Take]]:
    """The steps of an iteration with their ids and labels; which one is next shows when the one before was taken."""
    nth = state.iteration
    if state.plan is None or not state.pending:
        yield f"plan_{nth}", "Planning the search", make_plan
    if state.pending or state.plan_is_new:
        yield f"search_{nth}", _search_label(state), gather
    yield f"filter_{nth}", "Filtering", keep_fitting
    if state.entries:
        yield f"rank_{nth}", f"Ranking {counted(len(state.rankable), 'company', 'companies')}", rank
    yield f"critique_{nth}", "Checking whether that is enough", criticise


async def _take(take: Take, state: SearchState) -> str:
    """What came of a step. Where it fails after companies were ranked, these are the answer.

    A statement of the database that has begun may end after the search's time is up, by its own timeout.
    """
    try:
        async with in_time(state.run.budget.seconds_left + state.services.settings.database_timeout_seconds):
            return await take(state)
    except (DatabaseUnavailable, TimeIsUp):
        if not state.ranked:
            raise
        state.run.degrade("company_search")
        state.is_cut_short, state.end_reason = True, "guardrail_hit"
        return "not finished"


def may_go_on(state: SearchState) -> bool:
    """Whether another iteration may begin; notes when only the limits forbid it."""
    if state.end_reason is not None:
        return False
    state.is_cut_short = state.is_cut_short or state.is_spent
    if state.is_cut_short or state.iteration >= state.limits.max_iterations:
        state.end_reason = "guardrail_hit"
    return state.end_reason is None


def _search_label(state: SearchState) -> str:
    phrasings = min(len(state.pending), state.limits.variants_executed)
    return f"Searching {counted(phrasings, 'phrasing')}" if phrasings else "Searching by the new plan"


def _budget(limits: CompanyLimits) -> Budget:
    return Budget(
        max_turns=limits.max_iterations * TURNS_PER_ITERATION + 1,
        max_calls=limits.max_tool_calls,
        max_seconds=limits.max_seconds,
        max_tokens=limits.max_tokens,
        reserved_seconds=min(ANSWER_RESERVE_SECONDS, limits.max_seconds / 4),
    )
