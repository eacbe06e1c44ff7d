"""Keeps the companies that meet the conditions, and finds the nearest ones if none does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from quarry.companies.activity import counted
from quarry.companies.candidates import Variant
from quarry.companies.context import Candidates, CompanyInquiry, Context, NearMiss, Plan, Round
from quarry.companies.contract import Company
from quarry.companies.name_lookup import look_up
from quarry.companies.outputs import PlanFilters
from quarry.companies.ranking import Entry, boosted, has_niche, in_order
from quarry.companies.sources import labels, meets_and_misses
from quarry.companies.store import retrieve_variants
from quarry.platform.off_loop import off_loop
from quarry.query.algebra import Condition

NEAR_MISSES_MAX = 3


async def keep_fitting(context: Context, now: Round) -> tuple[Round, str]:
    """Read the best candidates in full and keep those that meet the conditions. Companies found by name may not."""
    inquiry, plan, found = now.inquiry, now.planned, now.found
    ordered = in_order(found.pool.values(), found.name_scores)[: context.settings.company_hydrated_max]
    companies = await look_up(context, [each.company_id for each in ordered], found.companies or inquiry.companies)
    with context.run.step("company_filter") as record:
        entries = [
            Entry(companies[each.company_id], each, found.name_scores.get(each.company_id, 0.0))
            for each in ordered
            if each.company_id in companies
            and each.company_id not in inquiry.left_out
            and not (inquiry.seed and each.company_id == inquiry.seed.id)
        ]
        # the preferred conditions follow those of the plan
        conditions = (*plan.conditions, *plan.intent.preferred)
        met = await meets_and_misses(context.services.reader, conditions, [entry.company.id for entry in entries])
        fitting, near = await off_loop(_parted, context, plan, entries, met)
        record.counts.update(before=len(entries), after=len(fitting))
    found = replace(found, companies=companies, fitting=fitting, near_misses=near)
    return replace(now, found=found), f"{len(fitting)} of {counted(len(entries), 'company', 'companies')} fit"


def _parted(
    context: Context, plan: Plan, entries: Sequence[Entry], met: Mapping[str, Sequence[bool]]
) -> tuple[list[Entry], list[NearMiss]]:
    """The entries that fit, best first, and the best ones that do not."""
    required, preferred = len(plan.conditions), max(1, len(plan.intent.preferred))
    misses = {
        entry.company.id: [
            *labels(unmet(plan.conditions, met.get(entry.company.id, ()))),
            *(f"“{words}”" for words in plan.demanded if not has_niche(entry.company, words)),
        ]
        for entry in entries
    }
    fitting = [
        replace(entry, preference=sum(met.get(entry.company.id, ())[required:]) / preferred)
        for entry in entries
        if not misses[entry.company.id]
    ]
    if plan.by_model:
        fitting = as_planned(fitting, plan.output.filters)
    missed = sorted(
        (entry for entry in entries if misses[entry.company.id]), key=lambda entry: (-entry.score, entry.company.id)
    )
    best = boosted(fitting, plan.output.filters, context.settings.company_niche_weight)[
        : context.settings.company_filtered_max
    ]
    return best, [NearMiss(entry.company, misses[entry.company.id]) for entry in missed[:NEAR_MISSES_MAX]]


def unmet(conditions: Sequence[Condition], met: Sequence[bool]) -> list[Condition]:
    """The conditions that are not met."""
    return [each for each, is_met in zip(conditions, met, strict=False) if not is_met]


def as_planned(entries: Sequence[Entry], filters: PlanFilters) -> list[Entry]:
    """The entries that the model's plan allows. A demand that no entry meets is dropped."""
    kept = list(entries)
    for wanted, held in _filed(filters):
        kept = [entry for entry in kept if _share_any(wanted, held(entry.company))] or kept
    if filters.niche_mode == "must_match":
        kept = [entry for entry in kept if any(has_niche(entry.company, each) for each in filters.niches)] or kept
    return kept


def met_by_none(entries: Sequence[Entry], filters: PlanFilters) -> list[str]:
    """The tags of the model's plan that were dropped because no entry has one of their kind."""
    return [
        name
        for wanted, held in _filed(filters)
        if not any(_share_any(wanted, held(each.company)) for each in entries)
        for name in wanted
    ]


def _filed(filters: PlanFilters) -> Iterator[tuple[Sequence[str], Callable[[Company], Sequence[str]]]]:
    """The tags that a plan demands, by kind, with a function that gives those of a company."""
    yield (*filters.sectors, *filters.categories), lambda company: (*company.sectors, *company.categories)
    yield filters.business_models, lambda company: company.business_models


def _share_any(wanted: Sequence[str], held: Sequence[str]) -> bool:
    return not {name.strip().casefold() for name in wanted}.isdisjoint(name.casefold() for name in held)


async def nearest(context: Context, inquiry: CompanyInquiry, found: Candidates) -> list[NearMiss]:
    """The companies nearest to the question that miss conditions, if no company meets them all."""
    conditions = inquiry.intent.stated
    if found.near_misses or not conditions or not context.may_call(2):
        return list(found.near_misses)
    context.run.budget.spend_call()
    candidates = await retrieve_variants(
        context.services.reader,
        [Variant(inquiry.intent.topic or context.question)],
        context.settings,
        hybrid=False,
        limit=NEAR_MISSES_MAX,
    )
    ids = [each.company_id for each in candidates][:NEAR_MISSES_MAX]
    companies = await look_up(context, ids, found.companies)
    met = await meets_and_misses(context.services.reader, conditions, ids)
    misses = {id: unmet(conditions, met[id]) for id in ids if id in met and id in companies}
    return [NearMiss(companies[id], labels(each)) for id, each in misses.items() if each]
