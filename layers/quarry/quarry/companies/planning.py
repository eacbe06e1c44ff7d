"""The plan of a search: by the model, else from what the reader read. Tags that no company has are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from quarry.companies import fallbacks
from quarry.companies.activity import counted
from quarry.companies.candidates import SOURCES
from quarry.companies.context import CompanyInquiry, Context, Plan, Round, conditions_in_words
from quarry.companies.outputs import CompanyPlan, PlanFilters, Search
from quarry.companies.prompts import PlanInputs, plan_messages
from quarry.companies.ranking import distinct
from quarry.companies.store import TAGS_TOLD_MAX, taxonomy
from quarry.models.step import ModelStep, decide
from quarry.platform.text import words

NAMED_MIN = 0.45
"""The least score of a name at which a short question may be a misspelt name."""
NAMED_WORDS_MAX = 4
DEFAULT_SEARCHES: tuple[Search, ...] = SOURCES


async def make_plan(context: Context, now: Round) -> tuple[Round, str]:
    """Plan what to search for and how. Phrasings are tried once; a plan with nothing new ends the search."""
    inquiry, before = now.inquiry, now.plan
    tried = before.tried if before else ()
    inputs = PlanInputs(
        question=context.question,
        history=tuple(context.request.history),
        previous_ids=tuple(context.request.previous_candidate_ids),
        seed=inquiry.seed,
        tried=tried,
        note=now.note,
    )
    output = await _output(context, inquiry, inputs)
    by_model = context.run.steps[-1].name == "company_plan" and "company_plan" not in context.run.degraded
    plan = _plan(context, inquiry, output, before)
    if by_model:
        intent = plan.intent if inquiry.is_given else plan.intent.guessed(output.filters.statuses)
        plan = replace(plan, by_model=True, intent=intent)
    if before is not None and _is_searched(plan, before):
        return replace(now, end_reason="converged"), "nothing else to try"
    return replace(now, plan=plan, inquiry=replace(inquiry, intent=plan.intent)), described(plan)


def _is_searched(plan: Plan, before: Plan) -> bool:
    """Whether the previous plan has searched for everything in this one."""
    new, old = plan.output, before.output
    return (
        not plan.pending
        and plan.intent == before.intent
        and new.filters == old.filters
        and {*new.search_priority_order} <= {*old.search_priority_order}
    )


def described(plan: Plan) -> str:
    """A plan in a line."""
    filters = plan.output.filters
    tags = [*filters.categories, *filters.sectors, *filters.business_models]
    return "; ".join([counted(len(plan.pending), "phrasing"), *tags, *conditions_in_words(plan.intent)])


async def _output(context: Context, inquiry: CompanyInquiry, inputs: PlanInputs) -> CompanyPlan:
    def by_rule(inputs_: PlanInputs) -> CompanyPlan:
        return fallbacks.plan_by_rule(inputs_, inquiry.intent, named=_may_be_a_name(context, inquiry))

    if context.run.chat is None or plans_by_rule(context, inquiry):
        with context.run.step("plan_by_rule") as record:
            plan = by_rule(inputs)
            record.counts["variants"] = len(plan.query_variants)
        return plan
    inputs_with_tags = replace(inputs, tags=await taxonomy(context.services.reader))
    plan = await decide(ModelStep("company_plan", plan_messages, CompanyPlan, by_rule), inputs_with_tags, context.run)
    plan = plan.model_copy(update={"filters": _as_in_taxonomy(plan.filters, inputs_with_tags.tags)})
    context.note(variants=len(plan.query_variants))
    return plan


def _as_in_taxonomy(filters: PlanFilters, tags: Mapping[str, Sequence[str]]) -> PlanFilters:
    """The filters with sectors, categories and business models as the data spells them. Unknown ones are dropped if the model was
    given the full list.
    """
    kept: dict[str, list[str]] = {}
    for field, kind in (("sectors", "sectors"), ("categories", "categories"), ("business_models", "business models")):
        values, known = getattr(filters, field), {value.casefold(): value for value in tags.get(kind, ())}
        is_whole = len(known) < TAGS_TOLD_MAX
        spelt = (known.get(" ".join(value.split()).casefold(), None if is_whole else value) for value in values)
        kept[field] = list(dict.fromkeys(value for value in spelt if value is not None))
    return filters.model_copy(update=kept)


def plans_by_rule(context: Context, inquiry: CompanyInquiry) -> bool:
    """Whether the plan is made without the model: by setting, or because the question is just one known tag."""
    if context.settings.company_planner == "never":
        return True
    intent = inquiry.intent
    is_simple = intent.is_plain and len(intent.tags) == 1 and not (intent.is_stated or intent.asks)
    return (
        context.settings.company_planner == "auto"
        and is_simple
        and not context.request.history
        and inquiry.seed is None
    )


def _may_be_a_name(context: Context, inquiry: CompanyInquiry) -> bool:
    """Whether a short question may be a misspelt name."""
    score = inquiry.matches[0].name_score if inquiry.matches and not inquiry.likened else 0.0
    return score >= NAMED_MIN and len(words(context.question)) <= NAMED_WORDS_MAX


def _plan(context: Context, inquiry: CompanyInquiry, output: CompanyPlan, before: Plan | None) -> Plan:
    """The plan for an output, its phrasings queued after the pending ones. Companies like a seed are searched for by its
    profile, not by its name.
    """
    variants = output.query_variants
    if inquiry.seed is not None:
        name = inquiry.seed.company_name.casefold()
        variants = [variant for variant in variants if name not in variant.casefold()]
        variants += fallbacks.seed_variants(inquiry.seed)
    variants = [variant for variant in distinct(variants) if not _says_excluded(variant, inquiry)]
    output = output.model_copy(
        update={"query_variants": variants or [context.question], "search_priority_order": _searches(output)}
    )
    previous = context.request.previous_candidate_ids
    only = tuple(previous) if output.intent == "narrow" and previous and not inquiry.is_widened else None
    tried, pending = (before.tried, before.pending) if before else ((), ())
    demanded = before.demanded if before else ()
    plan = Plan(output, inquiry.intent, pending=pending, tried=tried, only=only, demanded=demanded)
    return plan.queue(output.query_variants, context.settings.company_variants_held)


def _says_excluded(variant: str, inquiry: CompanyInquiry) -> bool:
    """Whether a phrasing contains excluded words."""
    return any(words.casefold() in variant.casefold() for words in inquiry.intent.excluded)


def _searches(plan: CompanyPlan) -> list[Search]:
    """The searches of a plan, each once; the default ones if none of them finds anything."""
    order = list(dict.fromkeys(plan.search_priority_order))
    filters = plan.filters
    has_tags = bool(filters.sectors or filters.categories or filters.business_models)
    finds = {"hybrid", "keyword"} & set(order) or ("taxonomy" in order and has_tags)
    return order if finds else [*order, *(search for search in DEFAULT_SEARCHES if search not in order)]


def planned_anew(plan: Plan, inquiry: CompanyInquiry) -> Plan:
    """The same plan for a changed question: all phrasings are searched for again."""
    return replace(plan, intent=inquiry.intent, pending=plan.tried, tried=(), is_new=True)
