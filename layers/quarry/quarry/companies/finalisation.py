"""The answer: its text as it is written, its references, what the search took."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from quarry.companies.contract import FinalAnswer, Reference, Telemetry
from quarry.companies.decisions import RankedCompany
from quarry.companies.found import NameMatch
from quarry.companies.prompts import SummaryEntry, SummaryInputs, summary_messages
from quarry.companies.snippets import home, inline_description, profile_words
from quarry.companies.state import SearchState
from quarry.companies.summary import BROKEN_OFF, CUT_SHORT, nothing_found, summary_by_rule
from quarry.core.errors import ModelError
from quarry.core.model.step import write
from quarry.core.off_loop import off_loop
from quarry.core.text import STOP_WORDS, stem, words

_MATCHED_BY = {
    "name": "Its name is the one asked for.",
    "former_name": "It was once called {asked}.",
    "domain": "Its web address is {asked}.",
}


def choose(state: SearchState) -> list[RankedCompany]:
    """The companies that the answer offers: those named, or as many as are wanted of those that were ranked surely enough."""
    if state.exact:
        return [_named(state, match) for match in state.exact if match.company_id in state.companies]
    sure = [ranked for ranked in state.ranked if ranked.confidence >= state.limits.accepted_confidence_min]
    wanted = state.plan.target_result_count if state.plan else len(sure)
    return sure[:wanted]


def _named(state: SearchState, match: NameMatch) -> RankedCompany:
    company = state.companies[match.company_id]
    chips = [company.status.capitalize(), *company.categories[:2], home(company)]
    return RankedCompany(
        company_id=company.id,
        reason=_MATCHED_BY[match.matched].format(asked=match.asked),
        inline_description=inline_description(company),
        evidence_chips=[chip for chip in chips if chip],
        confidence=min(1.0, match.name_score),
    )


async def write_answer(state: SearchState, chosen: list[RankedCompany]) -> AsyncGenerator[str]:
    """The answer's text, piece by piece: the model's from the companies chosen, or else their own words."""
    inputs = await off_loop(_inputs, state, chosen)
    if chosen:
        async with aclosing(_summary(state, inputs)) as pieces:
            async for piece in pieces:
                yield piece
    else:
        near_misses = [(miss.company, miss.unmet) for miss in state.near_misses]
        yield nothing_found(inputs, near_misses)
    if state.is_cut_short:
        yield CUT_SHORT


async def _summary(state: SearchState, inputs: SummaryInputs) -> AsyncGenerator[str]:
    run = state.run
    with run.step("company_summary") as record:
        written = ""
        if run.chat is not None and not state.is_out_of_tokens:
            try:
                async with aclosing(write(summary_messages(inputs), run, run.chat, record)) as pieces:
                    async for piece in pieces:
                        written += piece
                        yield piece
                record.counts["characters"] = len(written)
                return
            except ModelError:
                pass
        if run.chat is not None:
            run.degrade("company_summary", record)
        if written.strip():
            yield BROKEN_OFF
        for piece in summary_by_rule(inputs):
            yield piece
            # let each sentence leave before the next is written
            await asyncio.sleep(0)


def _inputs(state: SearchState, chosen: list[RankedCompany]) -> SummaryInputs:
    missing = []
    if state.names.similar and state.names.mentioned and state.anchor is None:
        missing.append(
            f"no company here is called {state.names.mentioned[0]}, so its name was searched for like any other word"
        )
    if state.widened:
        missing.append("none of the companies shown before meets this, so others were searched")
    return SummaryInputs(
        question=state.question,
        entries=[
            SummaryEntry(state.companies[ranked.company_id], ranked.reason, ranked.confidence, ranked.evidence_chips)
            for ranked in chosen
        ],
        anchor=state.anchor,
        exact=bool(state.exact),
        ambiguous=len(chosen) > 1 and len({match.asked for match in state.exact}) == 1,
        demands=state.demands,
        missing=missing,
        unheard=_unheard(state, chosen),
        cut_short=state.is_cut_short,
    )


def _unheard(state: SearchState, chosen: list[RankedCompany]) -> list[str]:
    """The words of the topic that no company chosen speaks of."""
    held = frozenset[str]().union(*(profile_words(state.companies[ranked.company_id]) for ranked in chosen))
    topic = dict.fromkeys(word for word in words(state.sought.topic) if word not in STOP_WORDS)
    return [word for word in topic if stem(word) not in held]


def final_answer(state: SearchState, chosen: list[RankedCompany], content: str) -> FinalAnswer:
    """The whole answer."""
    return FinalAnswer(
        content=content,
        references=[_reference(state, ranked) for ranked in chosen],
        companies_by_id={ranked.company_id: state.companies[ranked.company_id] for ranked in chosen},
        telemetry=Telemetry(
            run_id=str(state.run.id),
            iteration_count=state.iteration,
            tool_call_count=state.run.budget.calls,
            end_reason=state.end_reason or "guardrail_hit",
            degraded_steps=state.run.degraded,
        ),
    )


def _reference(state: SearchState, ranked: RankedCompany) -> Reference:
    return Reference(
        company_id=ranked.company_id,
        company_name=state.companies[ranked.company_id].company_name,
        reason=ranked.reason,
        inline_description=ranked.inline_description,
        evidence_chips=ranked.evidence_chips,
        confidence=ranked.confidence,
    )
