"""A company search as a stream of events.

Read `_search` from top to bottom. A question that is only the name of a company ends the search at once. Else a model leads: it
calls tools, among them the search for a need. Without one, rounds search and rank until that is enough, and the answer is
written; a question that the reader reads as one for a number ends in a count.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from uuid import UUID

from quarry.companies.activity import Timeline, counted
from quarry.companies.answer import Result, conclude_counted, final_answer, summary_of
from quarry.companies.context import CompanyInquiry, Context, Round
from quarry.companies.contract import ChatRequest, FinalAnswer, FinalAnswerEvent
from quarry.companies.counting import Counted, count, counted_in_words
from quarry.companies.name_lookup import look_up_names, name_only
from quarry.companies.rounds import budget_of, rounds
from quarry.companies.summary import BROKEN_OFF, CUT_SHORT
from quarry.companies.written import ModelAnswer, led_answer, toolset_of
from quarry.platform.errors import QuarryError
from quarry.platform.off_loop import off_loop
from quarry.query.algebra import Query
from quarry.query.describe import ending
from quarry.runs.run_log import ResultRecord
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event, PartialText, PartialTextEvent, TextWithdrawnEvent
from quarry.verification.check import Verification


@dataclass(frozen=True)
class Before:
    """The text of a model that did not finish, and what the check found in it: the answer follows."""

    text: str = ""
    checked: Verification = field(default_factory=lambda: Verification((), ()))


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
    budget, requested = budget_of(settings), request.as_asked()
    with services.run("companies", caller, request.question, requested, budget, request_id, run_id) as run:
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
    is_led = context.run.chat is not None and context.request.understood is None
    with timeline.step("names", "Looking for a company with that name") as step:
        yield step.event
        async with context.in_time():
            inquiry = await (name_only(context) if is_led else look_up_names(context))
            context = replace(context, settings=await context.services.tuned_settings())
        step.detail = inquiry.detail
    yield step.event
    events = _led(context, inquiry, timeline) if is_led and not inquiry.exact else _searched(context, inquiry, timeline)
    async with aclosing(events):
        async for event in events:
            yield event


async def _led(context: Context, inquiry: CompanyInquiry, timeline: Timeline) -> AsyncGenerator[Event]:
    """The events of an answer that the model leads. Where it fails, what it found is told by rule, else the reader answers."""
    written = ModelAnswer(context, inquiry, await toolset_of(context, timeline))
    async with aclosing(written.answered()) as events:
        async for event in events:
            yield event
    if not written.answer.failed:
        content = written.answer.text
        if any(each.result.is_cut_short for each in written.toolset.found):
            content += CUT_SHORT
            yield PartialTextEvent(data=PartialText(text=CUT_SHORT))
        answer = await led_answer(context, written, content, await off_loop(written.answer.checked))
        for event in _ended(context, answer):
            yield event
        return
    context.run.chat = None  # the rest is by rule
    before = Before()
    if written.answer.text:
        before = Before(written.answer.text + BROKEN_OFF, await off_loop(written.answer.checked))
        yield PartialTextEvent(data=PartialText(text=BROKEN_OFF))
    found = written.toolset.found
    if found:
        events = _answered(context, timeline, found[-1].result, before)
    else:
        async with context.in_time():
            inquiry = await look_up_names(context)
        events = _searched(context, inquiry, timeline, before)
    async with aclosing(events):
        async for event in events:
            yield event


async def _searched(
    context: Context, inquiry: CompanyInquiry, timeline: Timeline, before: Before = Before()
) -> AsyncGenerator[Event]:
    """The events of the rounds and of the answer, whose text follows the text `before`."""
    if inquiry.intent.asks is not None and not inquiry.exact and context.may_call():
        counts = await _count(context, inquiry.intent.asks)
        if counts is not None:
            async with aclosing(_counted(context, timeline, inquiry, counts, before)) as events:
                async for event in events:
                    yield event
            return
    now = Round(inquiry, end_reason="exact_match" if inquiry.exact else None)
    async with aclosing(rounds(context, timeline, now)) as steps:
        async for taken in steps:
            if not isinstance(taken, Result):
                yield taken
                continue
            async with aclosing(_answered(context, timeline, taken, before)) as events:
                async for event in events:
                    yield event


async def _answered(context: Context, timeline: Timeline, result: Result, before: Before) -> AsyncGenerator[Event]:
    """The text of an answer, and the whole answer."""
    with timeline.step("answer", "Writing the answer") as step:
        yield step.event
        content, summary = before.text, await summary_of(context, result)
        async with aclosing(summary.events()) as events:
            async for event in events:
                if isinstance(event, PartialTextEvent):
                    content += event.data.text
                elif isinstance(event, TextWithdrawnEvent):
                    content = before.text
                yield event
    yield step.event
    checked = before.checked if before.text else await off_loop(summary.answer.checked)
    for event in _ended(context, final_answer(context, result, content, checked)):
        yield event


def _ended(context: Context, answer: FinalAnswer) -> Iterator[Event]:
    context.run.results = [ResultRecord("company", each.company_id, each.confidence) for each in answer.references]
    context.run.end_reason = answer.telemetry.end_reason
    return ending(FinalAnswerEvent(data=answer), answer.understood)


async def _count(context: Context, query: Query) -> Counted | None:
    """The result of a query for numbers; None if it is invalid."""
    with context.run.step("count_companies") as record:
        context.run.budget.spend_call()
        async with context.in_time():
            counts = await count(query, context.caller, context.services)
        record.counts["found"] = counts.result.total if counts else 0
    return counts


async def _counted(
    context: Context, timeline: Timeline, inquiry: CompanyInquiry, counts: Counted, before: Before
) -> AsyncGenerator[Event]:
    """The events of a question that asks for a number."""
    with timeline.step("count", "Counting companies") as step:
        yield step.event
        step.detail = counted(counts.result.total, "company", "companies")
    yield step.event
    content = counted_in_words(counts)
    yield PartialTextEvent(data=PartialText(text=content))
    result = conclude_counted(inquiry, counts)
    for event in _ended(context, final_answer(context, result, before.text + content, before.checked)):
        yield event
