"""The plan: made by the model where that pays, else by rule; taken over with only what exists."""

from __future__ import annotations

from collections.abc import Sequence

from quarry.companies import standins
from quarry.companies.activity import counted
from quarry.companies.contract import STATUSES
from quarry.companies.decisions import CompanyPlan, PlanFilters, Search
from quarry.companies.fields import can_be_looked_up, ids_meeting
from quarry.companies.prompts import PlanInputs, plan_messages
from quarry.companies.ranking import distinct, known_only
from quarry.companies.state import SearchState
from quarry.core.model.step import ModelStep, decide
from quarry.core.text import words

NAMED_MIN = 0.45
"""From this score of a name on, a short question may be a name that was mistyped."""
NAMED_WORDS_MAX = 4
FIELD_IDS_MAX = 2000
"""So many companies of a place or a stage are searched one by one; of more, what was found is filtered."""
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
        return standins.plan_by_rule(given, state.reading, named=_may_be_a_name(state))

    if plans_by_rule(state):
        with state.run.step("plan_by_rule") as record:
            plan = by_rule(inputs)
            record.counts["variants"] = len(plan.query_variants)
    else:
        plan = await decide(ModelStep("company_plan", plan_messages, CompanyPlan, by_rule), inputs, state.run)
        state.run.steps[-1].counts["variants"] = len(plan.query_variants)
    _take_over(state, plan)
    await _restrict(state)
    return _described(state)


def plans_by_rule(state: SearchState) -> bool:
    """Whether no model is asked to plan: there is none, it is not wanted, or the question is no more than one known name."""
    if state.run.chat is None or state.limits.planner == "never":
        return True
    reading = state.reading
    simple = (
        reading.plain and len(reading.groups) == 1 and not (reading.constraints or reading.statuses or reading.excluded)
    )
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
    filters = known_only(plan.filters, STATUSES)
    if plan.intent == "narrow" and state.request.previous_candidate_ids and not state.reading.statuses:
        # what was shown before may be of any status
        filters = filters.model_copy(update={"statuses": list(STATUSES)})
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


async def _restrict(state: SearchState) -> None:
    """Find out which companies alone are to be searched: those shown before, or those of a place or stage."""
    state.include_ids = None
    if state.is_narrowed:
        state.include_ids = state.request.previous_candidate_ids
    elif can_be_looked_up(state.reading.constraints) and state.may_call(2):
        with state.run.step("companies_by_fields") as record:
            state.run.budget.spend_call()
            ids = await ids_meeting(state.services.database, state.reading.constraints, state.statuses, FIELD_IDS_MAX)
            record.counts["found"] = FIELD_IDS_MAX + 1 if ids is None else len(ids)
        # where none meets them, others are searched for: the nearest misses are worth naming
        state.include_ids = ids or None


def _described(state: SearchState) -> str:
    plan = state.the_plan
    filters = plan.filters
    chosen = [*filters.categories, *filters.sectors, *filters.business_models, *state.reading.constraints.described()]
    if filters.statuses != ["startup"]:
        chosen.append(" or ".join(filters.statuses))
    return "; ".join([counted(len(state.pending), "phrasing"), *chosen])
