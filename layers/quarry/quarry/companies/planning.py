"""The plan of a search: by the model, else from what the reader read. Values that no company has are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import ValidationError

from quarry.agent.service import with_known_values
from quarry.agent.sources import Asked as MayBeAsked
from quarry.companies import fallbacks
from quarry.companies.activity import counted
from quarry.companies.candidates import SOURCES
from quarry.companies.context import Asked, Context, Plan, Round, conditions_in_words
from quarry.companies.facets import COMPANIES, TAG_FACETS
from quarry.companies.outputs import CompanyPlan, PlanCondition, PlanFilters, Search
from quarry.companies.prompts import PlanInputs, plan_messages
from quarry.companies.query import Sought, TagGroup, assumed
from quarry.companies.ranking import distinct
from quarry.companies.sources import SEARCHED, met
from quarry.companies.store import TAGS_TOLD_MAX, taxonomy
from quarry.models.step import ModelStep, decide
from quarry.platform.errors import InvalidInput
from quarry.platform.text import words
from quarry.query.algebra import Aggregate, Comparison, Condition, Group, Order, Query, comparisons_of

NAMED_MIN = 0.45
"""The least score of a name at which a short question may be a misspelt name."""
NAMED_WORDS_MAX = 4
DEFAULT_SEARCHES: tuple[Search, ...] = SOURCES


async def make_plan(context: Context, now: Round) -> tuple[Round, str]:
    """Plan what to search for and how. Phrasings are tried once; a plan with nothing new ends the search."""
    asked, before = now.asked, now.plan
    tried = before.tried if before else ()
    inputs = PlanInputs(
        question=context.question,
        history=tuple(context.request.history),
        previous_ids=tuple(context.request.previous_candidate_ids),
        seed=asked.seed,
        tried=tried,
        note=now.note,
    )
    output = await _output(context, asked, inputs)
    by_model = context.run.steps[-1].name == "company_plan" and "company_plan" not in context.run.degraded
    plan = _plan(context, asked, output, before)
    if by_model:
        plan = await _as_the_model_says(context, plan)
    if before is not None and _is_searched(plan, before):
        return replace(now, end_reason="converged"), "nothing else to try"
    return replace(now, plan=plan, asked=replace(asked, sought=plan.sought)), _described(plan)


async def _as_the_model_says(context: Context, plan: Plan) -> Plan:
    """The plan with the model's conditions in place of the reader's, without those on values that no company has."""
    output, sought = plan.output, plan.sought
    if output.where is not None and context.request.constraints is None:
        stated = await _known(context, output.where)
        sought = replace(sought, stated=stated, assumed=assumed(stated), excluded=(), tags=_affirmed(sought, stated))
    sought = sought.guessed(output.filters.statuses)
    asks = _count_of(output, sought) if output.counts else None
    return replace(plan, by_model=True, sought=sought, asks=asks)


async def _known(context: Context, planned: Sequence[PlanCondition]) -> tuple[Condition, ...]:
    """The conditions with values as the data spells them, without those on unknown values."""
    asked = MayBeAsked(SEARCHED, context.caller, {}, {})
    found: list[Condition] = []
    for each in planned:
        try:
            condition = Comparison(field=each.field, op=each.op, values=tuple(each.values))
            query = Query(source=COMPANIES.name, where=(condition,))
            found += (await with_known_values(query, asked, context.services.reader, keeps_places=True)).where
            met(found[-1:])
        except (ValidationError, InvalidInput):
            continue
    return tuple(found)


def _affirmed(sought: Sought, stated: Sequence[Condition]) -> tuple[TagGroup, ...]:
    """The tags that the reader read, without those that the model rules out."""
    denied = {str(value) for each in comparisons_of(tuple(stated)) if each.op == "!=" for value in each.scalars}
    return tuple(group for group in sought.tags if not any(denied & group.values(field) for field in TAG_FACETS))


def _count_of(output: CompanyPlan, sought: Sought) -> Query:
    """The query for the number that the model plans to count."""
    filters = output.filters
    tags = {"sector": filters.sectors, "category": filters.categories, "business_model": filters.business_models}
    filed = [Comparison(field=field, values=tuple(values)) for field, values in tags.items() if values]
    return Query(
        source=COMPANIES.name,
        where=(*sought.stated, *filed),
        aggregate=(Aggregate(fn="count"),),
        group=(Group(field=output.group_by),) if output.group_by else (),
        order=(Order(by="count", direction="desc"),) if output.group_by else (),
    )


def _is_searched(plan: Plan, before: Plan) -> bool:
    """Whether the previous plan has searched for everything in this one."""
    new, old = plan.output, before.output
    return (
        not plan.pending
        and plan.sought == before.sought
        and new.filters == old.filters
        and {*new.search_priority_order} <= {*old.search_priority_order}
    )


def _described(plan: Plan) -> str:
    """A plan in a line."""
    filters = plan.output.filters
    tags = [*filters.categories, *filters.sectors, *filters.business_models]
    return "; ".join([counted(len(plan.pending), "phrasing"), *tags, *conditions_in_words(plan.sought)])


async def _output(context: Context, asked: Asked, inputs: PlanInputs) -> CompanyPlan:
    def by_rule(given: PlanInputs) -> CompanyPlan:
        return fallbacks.plan_by_rule(given, asked.sought, named=_may_be_a_name(context, asked))

    if context.run.chat is None or plans_by_rule(context, asked):
        with context.run.step("plan_by_rule") as record:
            plan = by_rule(inputs)
            record.counts["variants"] = len(plan.query_variants)
        return plan
    told = replace(inputs, tags=await taxonomy(context.services.reader))
    plan = await decide(ModelStep("company_plan", plan_messages, CompanyPlan, by_rule), told, context.run)
    plan = plan.model_copy(update={"filters": _as_in_taxonomy(plan.filters, told.tags)})
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


def plans_by_rule(context: Context, asked: Asked) -> bool:
    """Whether the plan is made without the model: by setting, or because the question is just one known tag."""
    if context.settings.company_planner == "never":
        return True
    sought = asked.sought
    is_simple = sought.is_plain and len(sought.tags) == 1 and not (sought.is_stated or sought.asks)
    return (
        context.settings.company_planner == "auto" and is_simple and not context.request.history and asked.seed is None
    )


def _may_be_a_name(context: Context, asked: Asked) -> bool:
    """Whether a short question may be a misspelt name."""
    score = asked.matches[0].name_score if asked.matches and not asked.likened else 0.0
    return score >= NAMED_MIN and len(words(context.question)) <= NAMED_WORDS_MAX


def _plan(context: Context, asked: Asked, output: CompanyPlan, before: Plan | None) -> Plan:
    """The plan for an output, its phrasings queued after the pending ones. Companies like a seed are searched for by its
    profile, not by its name.
    """
    variants = output.query_variants
    if asked.seed is not None:
        name = asked.seed.company_name.casefold()
        variants = [variant for variant in variants if name not in variant.casefold()]
        variants += fallbacks.seed_variants(asked.seed)
    variants = [variant for variant in distinct(variants) if not _says_excluded(variant, asked)]
    output = output.model_copy(
        update={"query_variants": variants or [context.question], "search_priority_order": _searches(output)}
    )
    previous = context.request.previous_candidate_ids
    only = tuple(previous) if output.intent == "narrow" and previous and not asked.is_widened else None
    tried, pending = (before.tried, before.pending) if before else ((), ())
    plan = Plan(output, asked.sought, pending=pending, tried=tried, only=only, asks=asked.sought.asks)
    return plan.queue(output.query_variants, context.settings.company_variants_held)


def _says_excluded(variant: str, asked: Asked) -> bool:
    """Whether a phrasing contains excluded words."""
    return any(words.casefold() in variant.casefold() for words in asked.sought.excluded)


def _searches(plan: CompanyPlan) -> list[Search]:
    """The searches of a plan, each once; the default ones if none of them finds anything."""
    order = list(dict.fromkeys(plan.search_priority_order))
    filters = plan.filters
    has_tags = bool(filters.sectors or filters.categories or filters.business_models)
    finds = {"hybrid", "keyword"} & set(order) or ("taxonomy" in order and has_tags)
    return order if finds else [*order, *(search for search in DEFAULT_SEARCHES if search not in order)]


def planned_anew(plan: Plan, asked: Asked) -> Plan:
    """The same plan for a changed question: all phrasings are searched for again."""
    return replace(plan, sought=asked.sought, pending=plan.tried, tried=(), is_new=True)
