"""The plan: made by the model where that pays, else by rule; taken over with only what exists."""

from __future__ import annotations

from collections.abc import Sequence

from quarry.companies import standins
from quarry.companies.activity import counted
from quarry.companies.decisions import CompanyPlan, PlanFilters, Search
from quarry.companies.prompts import PlanInputs, plan_messages
from quarry.companies.ranking import distinct
from quarry.companies.state import SearchState
from quarry.core.model.step import ModelStep, decide
from quarry.core.text import words

NAMED_MIN = 0.45
"""From this score of a name on, a short question may be a name that was mistyped."""
NAMED_WORDS_MAX = 4
DEFAULT_SEARCHES: tuple[Search, ...] = ("hybrid", "keyword", "taxonomy")


async def make_plan(state: SearchState) -> str:
    """Plan, or plan again: what to search for and how. Phrasings that were tried already are not tried again."""
    inputs = PlanInputs(
        question=state.question,
        history=state.request.history,
        previous_ids=state.request.previous_candidate_ids,
        anchor=state.anchor,
        tried=state.tried,
        note=state.note,
    )

    def by_rule(given: PlanInputs) -> CompanyPlan:
        return standins.plan_by_rule(given, state.sought, named=_may_be_a_name(state))

    if plans_by_rule(state):
        with state.run.step("plan_by_rule") as record:
            plan = by_rule(inputs)
            record.counts["variants"] = len(plan.query_variants)
    else:
        plan = await decide(ModelStep("company_plan", plan_messages, CompanyPlan, by_rule), inputs, state.run)
        state.run.steps[-1].counts["variants"] = len(plan.query_variants)
    _take_over(state, plan)
    state.include_ids = state.request.previous_candidate_ids if state.is_narrowed else None
    return _described(state)


def plans_by_rule(state: SearchState) -> bool:
    """Whether no model is asked to plan: there is none, it is not wanted, or the question is no more than one known name."""
    if state.run.chat is None or state.limits.planner == "never":
        return True
    sought = state.sought
    simple = sought.is_plain and len(sought.tags) == 1 and not (sought.stated or sought.excluded)
    return state.limits.planner == "auto" and simple and not state.request.history and state.anchor is None


def _may_be_a_name(state: SearchState) -> bool:
    """Whether a short question is near enough to a name to be one that was mistyped."""
    score = state.matches[0].name_score if state.matches and not state.names.similar else 0.0
    return score >= NAMED_MIN and len(words(state.question)) <= NAMED_WORDS_MAX


def _take_over(state: SearchState, plan: CompanyPlan) -> None:
    """Keep of a plan what exists; queue its phrasings. Others like an anchor are searched for by its profile, not its name."""
    variants = plan.query_variants
    if state.anchor is not None:
        name = state.anchor.company_name.casefold()
        variants = [variant for variant in variants if name not in variant.casefold()]
        variants += standins.anchor_variants(state.anchor)
    filters = plan.filters
    state.plan = plan.model_copy(
        update={
            "query_variants": distinct(variants) or [state.question],
            "search_priority_order": _searches(plan, filters),
            "filters": filters,
        }
    )
    state.plan_is_new = True
    queue_variants(state, state.plan.query_variants)


def _searches(plan: CompanyPlan, filters: PlanFilters) -> list[Search]:
    """The searches of a plan, each once; the usual ones where it names none that finds anything."""
    order = list(dict.fromkeys(plan.search_priority_order))
    tagged = bool(filters.sectors or filters.categories or filters.business_models)
    finds = {"hybrid", "keyword"} & set(order) or ("taxonomy" in order and tagged)
    return order if finds else [*order, *(search for search in DEFAULT_SEARCHES if search not in order)]


def queue_variants(state: SearchState, variants: Sequence[str]) -> int:
    """Let phrasings wait to be searched for, as far as they are new and there is room; how many were added."""
    known = {text.casefold() for text in (*state.tried, *state.pending)}
    fresh = [variant for variant in distinct(variants) if variant.casefold() not in known]
    room = max(0, state.limits.variants_held - len(state.pending))
    state.pending += fresh[:room]
    return len(fresh[:room])


def _described(state: SearchState) -> str:
    plan = state.the_plan
    filters = plan.filters
    chosen = [*filters.categories, *filters.sectors, *filters.business_models, *state.demands]
    return "; ".join([counted(len(state.pending), "phrasing"), *chosen])
