"""Decides whether the ranking is enough, and what the next round tries."""

from __future__ import annotations

from dataclasses import replace

from quarry.companies.activity import counted
from quarry.companies.context import Candidates, CompanyInquiry, Context, Plan, Round, conditions_in_words
from quarry.companies.contract import EndReason
from quarry.companies.fallbacks import critique_by_rule
from quarry.companies.fitting import met_by_none
from quarry.companies.outputs import VARIANTS_ADDED_MAX, Critique
from quarry.companies.planning import planned_anew
from quarry.companies.prompts import CritiqueInputs, critique_messages
from quarry.companies.ranking import Entry, converged
from quarry.models.step import ModelStep, decide

REJECTED_MAX = 8
"""How many rejected companies are named."""

_END: dict[EndReason, str] = {
    "confidence_met": "enough",
    "converged": "nothing new turns up",
    "guardrail_hit": "the limits of a search are reached",
}


async def criticise(context: Context, now: Round) -> tuple[Round, str]:
    """Decide whether another round can help: end the search, or prepare the next round. Also returns that in a line.

    The model is asked in each round, and its "stop" ends the search.
    """
    inquiry, plan, found, ranking = now.inquiry, now.planned, now.found, now.ranking
    critique = await _critique(context, now)
    queued = plan.queue(critique.new_query_variants[:VARIANTS_ADDED_MAX], context.settings.company_variants_held)
    added = len(queued.pending) - len(plan.pending)
    context.note(new_variants=added)
    is_cut_short = now.is_cut_short or found.is_cut_short or context.run.budget.seconds_for_work <= 0
    if plan.only is not None and not found.fitting:
        anew = _anew(now, replace(inquiry, is_widened=True), None)
        return anew, "none of the companies shown before fits; searching all"
    # a guess is given up only if no company meets it
    is_given_up = plan.by_model or not inquiry.intent.guesses or not found.fitting
    if not ranking.ranked and inquiry.intent.assumed and is_given_up and plan.only is None and not is_cut_short:
        relaxed = inquiry.relaxed()
        return _anew(now, relaxed, planned_anew(queued, relaxed)), "nothing so far; searching more widely"
    is_stuck = not ranking.ranked or converged(ranking.before, ranking.best)
    now = replace(now, plan=queued, stuck=now.stuck + 1 if is_stuck else 0, is_cut_short=is_cut_short)
    end = _end(context, critique, now)
    note = _what_happened(now, critique) if end is None else ""
    now = replace(now, ranking=replace(ranking, before=ranking.best), note=note, end_reason=end)
    if end is not None:
        return now, _END[end]
    return now, f"searching on, with {counted(added, 'new phrasing')}" if added else "looking once more"


def _what_happened(now: Round, critique: Critique) -> str:
    """The result of a round, for the next plan."""
    found, ranking = now.found, now.ranking
    conditions = "; ".join(conditions_in_words(now.inquiry.intent)) or "none"
    filters = now.planned.output.filters.model_dump(by_alias=True, exclude_defaults=True)
    lines = [
        f"{len(found.pool)} companies found; {len(found.fitting)} met the user's conditions ({conditions}) and your filters "
        f"({filters or 'none'}).",
        f"{len(ranking.ranked)} answer the question{', the same as before' if ranking.ranked and now.stuck else ''}.",
    ]
    dropped = met_by_none(found.fitting, now.planned.output.filters)
    lines += [f"None has {', '.join(dropped)}: that filter was dropped."] if dropped and found.fitting else []
    rejected = [entry.company.company_name for entry in _rejected(now)]
    lines += [f"Left out by the ranking: {'; '.join(rejected)}."] if rejected else []
    lines += [f"{miss.company.company_name} misses: {'; '.join(miss.unmet)}." for miss in found.near_misses]
    return " ".join([*lines, critique.why])


def _rejected(now: Round) -> list[Entry]:
    """The best companies that the ranking left out."""
    return [entry for entry in now.found.fitting if entry.company.id not in now.ranking.best][:REJECTED_MAX]


def _anew(now: Round, inquiry: CompanyInquiry, plan: Plan | None) -> Round:
    """A round from which the search starts again with `inquiry`."""
    return Round(inquiry, now.nth, plan, Candidates(companies=now.found.companies))


async def _critique(context: Context, now: Round) -> Critique:
    found, ranking, best = now.found, now.ranking, now.ranking.best
    inputs = CritiqueInputs(
        question=context.question,
        plan=now.planned.output,
        iteration=now.nth,
        candidate_count=len(found.fitting),
        ranked=[entry for entry in found.fitting if entry.company.id in best],
        confidence=ranking.confidence,
        target=context.settings.company_confidence_target,
        before=ranking.before or (),
        now=best,
        tried=now.planned.tried,
        demands=conditions_in_words(now.inquiry.intent),
        rejected=_rejected(now),
        near=[(miss.company, miss.unmet) for miss in found.near_misses],
    )

    step = ModelStep("company_critique", critique_messages, Critique, critique_by_rule)
    return await decide(step, inputs, context.run)


def _end(context: Context, critique: Critique, now: Round) -> EndReason | None:
    if now.is_cut_short:
        return "guardrail_hit"
    target = context.settings.company_confidence_target
    if critique.decision == "stop" and now.ranking.confidence >= target:
        return "confidence_met"
    by_rule = context.run.chat is None or "company_critique" in context.run.degraded
    if critique.decision == "stop" and not by_rule:
        return "converged"
    # by rule, another round without new phrasings gives the same result; the first time, the model plans again
    has_converged = not now.planned.pending or converged(now.ranking.before, now.ranking.best)
    is_over = has_converged if by_rule else now.stuck > 1
    return "converged" if is_over else None
