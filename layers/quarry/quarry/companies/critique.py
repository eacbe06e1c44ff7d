"""Whether what was ranked is enough, and what the next round is to try."""

from __future__ import annotations

from dataclasses import replace

from quarry.companies import fallbacks
from quarry.companies.activity import counted
from quarry.companies.context import Asked, Candidates, Context, Plan, Ranking, Round
from quarry.companies.contract import EndReason
from quarry.companies.outputs import Critique
from quarry.companies.planning import planned_anew
from quarry.companies.prompts import CritiqueInputs, critique_messages
from quarry.companies.ranking import converged
from quarry.core.model.step import ModelStep, decide
from quarry.core.off_loop import off_loop

_END: dict[EndReason, str] = {
    "confidence_met": "enough",
    "converged": "nothing new turns up",
    "guardrail_hit": "the limits of a search are reached",
}


async def criticise(context: Context, now: Round) -> tuple[Round, str]:
    """Judge whether another round can help, and end the search or say what it is to try; with that in a line.

    Nobody needs a model to see that what is surely enough is enough, or that there is nothing to judge.
    """
    asked, plan, found, ranking = now.asked, now.planned, now.found, now.ranking
    critique = await _critique(context, now)
    queued = plan.queue(critique.new_query_variants, context.settings.company_variants_held)
    added = len(queued.pending) - len(plan.pending)
    context.note(new_variants=added)
    is_cut_short = now.is_cut_short or found.is_cut_short or context.run.budget.seconds_for_work <= 0
    if plan.only is not None and not found.fitting:
        anew = _anew(now, replace(asked, is_widened=True), None)
        return anew, "none of the companies shown before fits; searching all"
    if not ranking.ranked and asked.sought.assumed and plan.only is None and not is_cut_short:
        relaxed = asked.relaxed()
        return _anew(now, relaxed, planned_anew(queued, relaxed)), "nothing so far; searching more widely"
    end = _end(context, critique, queued, ranking, is_cut_short=is_cut_short)
    ranking = replace(ranking, before=ranking.best)
    now = replace(now, plan=queued, ranking=ranking, note="", end_reason=end, is_cut_short=is_cut_short)
    if end is not None:
        return now, _END[end]
    detail = f"searching on, with {counted(added, 'new phrasing')}" if added else "looking once more"
    return replace(now, note=f"{len(found.fitting)} companies fitted the filters; {critique.why}"), detail


def _anew(now: Round, asked: Asked, plan: Plan | None) -> Round:
    """The round before one that searches anew for what is `asked`."""
    return Round(asked, now.nth, plan, Candidates(companies=now.found.companies))


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
    )

    def by_rule(given: CritiqueInputs) -> Critique:
        return fallbacks.critique_by_rule(given, now.asked.sought)

    if not found.fitting or ranking.confidence >= context.settings.company_confidence_target:
        with context.run.step("critique_by_rule"):
            return await off_loop(by_rule, inputs)
    return await decide(ModelStep("company_critique", critique_messages, Critique, by_rule), inputs, context.run)


def _end(context: Context, critique: Critique, plan: Plan, ranking: Ranking, *, is_cut_short: bool) -> EndReason | None:
    if is_cut_short:
        return "guardrail_hit"
    if critique.decision == "stop" and ranking.confidence >= context.settings.company_confidence_target:
        return "confidence_met"
    has_nothing_new = not plan.pending and (context.run.chat is None or not ranking.ranked)
    if converged(ranking.before, ranking.best) or has_nothing_new:
        # without a model and without a new phrasing everything would come out the same
        return "converged"
    return None
