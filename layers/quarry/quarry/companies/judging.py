"""The ranking of what was found, and whether to search on."""

from __future__ import annotations

from collections.abc import Sequence

from quarry.companies import standins
from quarry.companies.activity import counted
from quarry.companies.contract import EVIDENCE_CHIPS_MAX, EndReason
from quarry.companies.decisions import Critique, RankedCompany, Reranking
from quarry.companies.planning import queue_variants
from quarry.companies.prompts import (
    CritiqueInputs,
    RerankInputs,
    critique_messages,
    rerank_messages,
)
from quarry.companies.ranking import converged, distinct
from quarry.companies.snippets import inline_description
from quarry.companies.state import SearchState
from quarry.core.model.step import ModelStep, decide
from quarry.core.text import fence, shorten

REASON_CHARACTERS_MAX = 400
INLINE_CHARACTERS_MAX = 200
CHIP_CHARACTERS_MAX = 40

_END: dict[EndReason, str] = {
    "confidence_met": "enough",
    "converged": "nothing new turns up",
    "guardrail_hit": "the limits of a search are reached",
}


async def rank(state: SearchState) -> str:
    """Rank the companies that fit. What the model says of companies that were not offered is dropped."""
    offered = state.rankable
    inputs = RerankInputs(state.question, state.the_plan, offered, state.anchor, state.demands)

    def by_rule(given: RerankInputs) -> Reranking:
        return standins.rerank_by_rule(given, state.sought)

    decided = await decide(ModelStep("company_rerank", rerank_messages, Reranking, by_rule), inputs, state.run)
    if state.is_over:
        return "as before: the limits of a search are reached"
    ranked = _offered_only(decided, offered_ids := [entry.company.id for entry in offered])
    if decided.ranked_company_ids and not ranked:
        state.run.degrade("company_rerank", state.run.steps[-1])
        decided = by_rule(inputs)
        ranked = _offered_only(decided, offered_ids)
    state.ranked = [_presentable(state, company) for company in ranked]
    state.confidence = decided.confidence if ranked else 0.0
    state.run.steps[-1].counts.update(before=len(offered), after=len(ranked))
    return f"{len(ranked)} of {len(offered)} answer the question"


def _offered_only(decided: Reranking, offered: Sequence[str]) -> list[RankedCompany]:
    """The ranked companies that were offered, each once, with what is said of each."""
    ids = {fence(id): id for id in offered} | {id: id for id in offered}
    said = {ids[each.company_id]: each for each in reversed(decided.per_company) if each.company_id in ids}
    ranked = dict.fromkeys(ids[id] for id in decided.ranked_company_ids if id in ids)
    return [
        said[id].model_copy(update={"company_id": id})
        if id in said
        else RankedCompany(company_id=id, confidence=decided.confidence)
        for id in ranked
    ]


def _presentable(state: SearchState, ranked: RankedCompany) -> RankedCompany:
    """What is said of a company, on one line each and not too long; what is not said is taken from its profile."""
    company = state.companies[ranked.company_id]
    similar = [f"Similar to {state.anchor.company_name}"] if state.anchor else []
    chips = [shorten(chip, CHIP_CHARACTERS_MAX) for chip in distinct([*similar, *ranked.evidence_chips])]
    return ranked.model_copy(
        update={
            "reason": shorten(ranked.reason, REASON_CHARACTERS_MAX) or inline_description(company),
            "inline_description": shorten(ranked.inline_description, INLINE_CHARACTERS_MAX)
            or inline_description(company),
            "evidence_chips": (chips or list(company.niches))[:EVIDENCE_CHIPS_MAX],
        }
    )


async def criticise(state: SearchState) -> str:
    """Judge whether another iteration can help, and end the search or queue what it is to try."""
    best = state.best
    inputs = CritiqueInputs(
        question=state.question,
        plan=state.the_plan,
        iteration=state.iteration,
        candidate_count=len(state.entries),
        ranked=[entry for entry in state.entries if entry.company.id in best],
        confidence=state.confidence,
        target=state.limits.confidence_target,
        before=state.best_before or (),
        now=best,
        tried=state.tried,
    )

    def by_rule(given: CritiqueInputs) -> Critique:
        return standins.critique_by_rule(given, state.sought)

    critique = await decide(ModelStep("company_critique", critique_messages, Critique, by_rule), inputs, state.run)
    added = queue_variants(state, critique.new_query_variants)
    state.run.steps[-1].counts["new_variants"] = added
    state.is_cut_short = state.is_cut_short or state.run.budget.seconds_for_work <= 0
    if state.is_cut_short:
        state.end_reason = "guardrail_hit"
    elif critique.decision == "stop" and state.confidence >= state.limits.confidence_target:
        state.end_reason = "confidence_met"
    elif converged(state.best_before, best) or (state.run.chat is None and not state.pending):
        # without a model and without a new phrasing everything would come out the same
        state.end_reason = "converged"
    state.best_before = best
    if not state.entries and state.is_narrowed:
        _widen(state)
        return "none of the companies shown before fits; searching all"
    if not state.ranked and state.sought.assumed and not state.is_narrowed and not state.is_cut_short:
        _relax(state)
        return "none that is a startup fits; searching all" if not state.sought.names_status else "searching more widely"
    state.note = f"{len(state.entries)} companies fitted the filters; {critique.why}"
    if state.end_reason is not None:
        return _END[state.end_reason]
    return f"searching on, with {counted(added, 'new phrasing')}" if added else "looking once more"


def _relax(state: SearchState) -> None:
    """Give up what was only assumed, and search for the same again."""
    state.is_relaxed, state.sought = True, state.sought.relaxed()
    state.end_reason = state.best_before = None
    state.pending, state.tried = list(state.tried), []
    state.plan_is_new, state.include_ids = True, None
    state.pool, state.name_scores, state.standings = {}, {}, {}


def _widen(state: SearchState) -> None:
    """Leave the companies shown before, none of which fits, and begin again with all."""
    state.widened = True
    state.end_reason = state.plan = state.best_before = None
    state.pending, state.tried, state.pool, state.name_scores = [], [], {}, {}
