"""The rounds of a search: each plans, retrieves, filters, ranks and decides whether that is enough. `rounds` is at the end; the
steps stand before it in their order.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace

from quarry.companies.answer import Result, conclude
from quarry.companies.candidates import (
    NEAR_MISSES_MAX,
    PREFERENCE_WEIGHT,
    SOURCES,
    Candidates,
    CompanyInquiry,
    Entry,
    NearMiss,
    Plan,
    Ranking,
    Round,
    boosted,
    converged,
    distinct,
    has_niche,
    in_order,
    inline_description,
    unmet,
)
from quarry.companies.context import Context, Timeline, conditions_in_words, quantity
from quarry.companies.contract import EVIDENCE_CHIPS_MAX, Company, EndReason
from quarry.companies.fallbacks import plan_by_rule, rerank_by_rule, seed_variants
from quarry.companies.prompts import (
    VARIANTS_ADDED_MAX,
    CompanyPlan,
    Critique,
    PlanFilters,
    RankedCompany,
    Reranking,
    RerankInputs,
    Search,
    critique_messages,
    plan_messages,
    rerank_messages,
)
from quarry.companies.retrieval import TAGS_TOLD_MAX, look_up, retrieve, taxonomy
from quarry.companies.sources import labels, meets_and_misses
from quarry.language.messages import gettext, gettext_noop, ngettext
from quarry.models.step import ModelStep, decide
from quarry.platform.budget import Budget
from quarry.platform.errors import DatabaseUnavailable, TimeIsUp
from quarry.platform.off_loop import off_loop
from quarry.platform.settings import Settings
from quarry.platform.text import fence, plain_links, said_in, shorten, words
from quarry.streaming.events import Event

NAMED_MIN = 0.45
"""The least score of a name at which a short question may be a misspelt name."""
NAMED_WORDS_MAX = 4
DEFAULT_SEARCHES: tuple[Search, ...] = SOURCES


async def make_plan(context: Context, now: Round) -> tuple[Round, str]:
    """Plan what to search for and how. Phrasings are tried once; a plan with nothing new ends the search."""
    inquiry, before = now.inquiry, now.plan
    output = await _output(context, now)
    by_model = context.run.steps[-1].name == "company_plan" and "company_plan" not in context.run.degraded
    plan = _plan(context, inquiry, output, before)
    if by_model:
        intent = plan.intent if inquiry.is_given else plan.intent.guessed(output.filters.statuses)
        plan = replace(plan, by_model=True, intent=intent)
    if before is not None and _is_searched(plan, before):
        return replace(now, end_reason="converged"), gettext("nothing else to try")
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
    return "; ".join([quantity(len(plan.pending), "phrasing"), *tags, *conditions_in_words(plan.intent)])


async def _output(context: Context, now: Round) -> CompanyPlan:
    inquiry = now.inquiry

    def by_rule(_: object) -> CompanyPlan:
        named = _may_be_a_name(context, inquiry)
        return plan_by_rule(context.question, inquiry.intent, inquiry.seed, named=named)

    if context.run.chat is None or plans_by_rule(context, inquiry):
        with context.run.step("plan_by_rule") as record:
            plan = by_rule(None)
            record.counts["variants"] = len(plan.query_variants)
        return plan
    tags = await taxonomy(context.services.reader)
    tried = now.plan.tried if now.plan else ()
    step = ModelStep(
        "company_plan",
        lambda _: plan_messages(context.request, inquiry.seed, tried, now.note, tags),
        CompanyPlan,
        by_rule,
    )
    plan = await decide(step, now, context.run)
    plan = plan.model_copy(update={"filters": _as_in_taxonomy(plan.filters, tags)})
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
        variants += seed_variants(inquiry.seed)
    excluded = [words.casefold() for words in inquiry.intent.excluded]
    variants = [each for each in distinct(variants) if not any(words in each.casefold() for words in excluded)]
    output = output.model_copy(
        update={"query_variants": variants or [context.question], "search_priority_order": _searches(output)}
    )
    previous = context.request.previous_candidate_ids
    only = tuple(previous) if output.intent == "narrow" and previous and not inquiry.is_widened else None
    tried, pending = (before.tried, before.pending) if before else ((), ())
    demanded = before.demanded if before else ()
    plan = Plan(output, inquiry.intent, pending=pending, tried=tried, only=only, demanded=demanded)
    return plan.queue(output.query_variants, context.settings.company_variants_held)


def _searches(plan: CompanyPlan) -> list[Search]:
    """The searches of a plan, each once; the default ones if none of them finds anything."""
    order = list(dict.fromkeys(plan.search_priority_order))
    filters = plan.filters
    has_tags = bool(filters.sectors or filters.categories or filters.business_models)
    finds = {"hybrid", "keyword"} & set(order) or ("taxonomy" in order and has_tags)
    return order if finds else [*order, *(search for search in DEFAULT_SEARCHES if search not in order)]


# ---- filter ----


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
    return replace(now, found=found), ngettext(
        "{fitting} of {number} company fit", "{fitting} of {number} companies fit", len(entries), fitting=len(fitting)
    )


def _parted(
    context: Context, plan: Plan, entries: Sequence[Entry], met: Mapping[str, Sequence[bool]]
) -> tuple[list[Entry], list[NearMiss]]:
    """The entries that fit, best first, and the best ones that do not."""
    required, preferred = len(plan.conditions), max(1, len(plan.intent.preferred))
    misses = {
        entry.company.id: [
            *labels(unmet(plan.conditions, met.get(entry.company.id, ()))),
            *(gettext("“{text}”", text=words) for words in plan.demanded if not has_niche(entry.company, words)),
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
    best = boosted(fitting, plan.output.filters.niches, context.settings.company_niche_weight)[
        : context.settings.company_filtered_max
    ]
    return best, [NearMiss(entry.company, misses[entry.company.id]) for entry in missed[:NEAR_MISSES_MAX]]


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


# ---- rank ----

ALWAYS_RANKED = 10
"""How many companies the model gets whatever their scores."""
REASON_CHARACTERS_MAX = 400
INLINE_CHARACTERS_MAX = 200
CHIP_CHARACTERS_MAX = 40


async def rerank(context: Context, now: Round) -> tuple[Round, str]:
    """Rank the companies that fit. Companies that the model was not given are dropped from its answer."""
    inquiry, found, before = now.inquiry, now.found, now.ranking
    offered = found.fitting[: context.settings.company_reranked_max]
    inputs = RerankInputs(
        context.question, now.planned.output, offered, inquiry.seed, conditions_in_words(inquiry.intent)
    )
    if context.run.chat is not None:
        inputs = replace(inputs, entries=worth_ranking(offered, context.settings.company_reranked_share_min))

    def by_rule(inputs_: RerankInputs) -> Reranking:
        return rerank_by_rule(replace(inputs_, entries=offered), inquiry.intent, by_meaning=found.by_meaning)

    decided = await decide(ModelStep("company_rerank", rerank_messages, Reranking, by_rule), inputs, context.run)
    if context.is_late(bool(before.ranked)):
        return now, before.detail
    ranked = _offered_only(decided, offered_ids := [entry.company.id for entry in offered])
    if decided.ranked_company_ids and not ranked:
        context.run.degrade("company_rerank", context.run.steps[-1])
        decided = await off_loop(by_rule, inputs)
        ranked = _offered_only(decided, offered_ids)
    ranked = _preferred_first(ranked, offered)
    ranked = await off_loop(
        lambda: [_presentable(found.companies[each.company_id], each, inquiry.seed) for each in ranked]
    )
    by_rule_alone = context.run.chat is None or "company_rerank" in context.run.degraded
    least = context.settings.company_accepted_confidence_min
    if by_rule_alone:
        answering = ranked if ranked and decided.confidence >= least else []
    else:
        answering = [each for each in ranked if each.confidence >= least]
    context.note(before=len(offered), after=len(answering))
    ranking = Ranking(
        answering,
        tuple(ranked) if by_rule_alone and not answering else (),
        decided.confidence if answering else 0.0,
        before.before,
        detail=gettext("{number} of {all} may answer the question", number=len(answering), all=len(offered)),
    )
    return replace(now, ranking=ranking), ranking.detail


def worth_ranking(entries: Sequence[Entry], share: float) -> Sequence[Entry]:
    """The first entries, and the others with at least this share of the best score."""
    best = max((entry.score for entry in entries), default=0.0)
    return [entry for place, entry in enumerate(entries) if place < ALWAYS_RANKED or entry.score >= share * best]


def _preferred_first(ranked: Sequence[RankedCompany], offered: Sequence[Entry]) -> list[RankedCompany]:
    """The same order, with companies that meet preferred conditions further in front."""
    preference = {entry.company.id: entry.preference for entry in offered}
    if not any(preference.values()):
        return list(ranked)
    return sorted(ranked, key=lambda each: -each.confidence - PREFERENCE_WEIGHT * preference[each.company_id])


def _offered_only(decided: Reranking, offered: Sequence[str]) -> list[RankedCompany]:
    """The ranked companies that were offered, each once, with the reasons."""
    ids = {fence(id): id for id in offered} | {id: id for id in offered}
    verdicts = {ids[each.company_id]: each for each in reversed(decided.per_company) if each.company_id in ids}
    ranked = dict.fromkeys(ids[id] for id in decided.ranked_company_ids if id in ids)
    return [
        verdicts[id].model_copy(update={"company_id": id})
        if id in verdicts
        else RankedCompany(company_id=id, confidence=decided.confidence)
        for id in ranked
    ]


def _presentable(company: Company, ranked: RankedCompany, seed: Company | None) -> RankedCompany:
    """The texts about a company, each on one line and bounded; missing ones are taken from its profile."""
    similar = [gettext("Similar to {name}", name=seed.company_name)] if seed else []
    profile = said_in(company.model_dump())
    chips = [
        plain_links(shorten(chip, CHIP_CHARACTERS_MAX), profile)
        for chip in distinct([*similar, *ranked.evidence_chips])
    ]
    return ranked.model_copy(
        update={
            "reason": plain_links(shorten(ranked.reason, REASON_CHARACTERS_MAX), profile)
            or inline_description(company),
            "inline_description": plain_links(shorten(ranked.inline_description, INLINE_CHARACTERS_MAX), profile)
            or inline_description(company),
            "evidence_chips": (chips or list(company.niches))[:EVIDENCE_CHIPS_MAX],
        }
    )


# ---- critique ----

_END: dict[EndReason, str] = {
    "confidence_met": gettext_noop("enough"),
    "converged": gettext_noop("nothing new turns up"),
    "guardrail_hit": gettext_noop("the limits of a search are reached"),
}


async def criticise(context: Context, now: Round) -> tuple[Round, str]:
    """Decide whether another round can help: end the search, or prepare the next round. Also returns that in a line.

    The model is asked in each round, and its "stop" ends the search.
    """
    inquiry, plan, found, ranking = now.inquiry, now.planned, now.found, now.ranking
    demands, target = conditions_in_words(inquiry.intent), context.settings.company_confidence_target
    step = ModelStep[Round, Critique](
        "company_critique",
        lambda now: critique_messages(context.question, now, target, demands),
        Critique,
        # the plan by rule has searched for all that the question says
        lambda _: Critique(decision="stop"),
    )
    critique = await decide(step, now, context.run)
    queued = plan.queue(critique.new_query_variants[:VARIANTS_ADDED_MAX], context.settings.company_variants_held)
    added = len(queued.pending) - len(plan.pending)
    context.note(new_variants=added)
    is_cut_short = now.is_cut_short or found.is_cut_short or context.run.budget.seconds_for_work <= 0
    if plan.only is not None and not found.fitting:
        anew = _anew(now, replace(inquiry, is_widened=True), None)
        return anew, gettext("none of the companies shown before fits; searching all")
    # a guess is given up only if no company meets it
    is_given_up = plan.by_model or not inquiry.intent.guesses or not found.fitting
    if not ranking.ranked and inquiry.intent.assumed and is_given_up and plan.only is None and not is_cut_short:
        relaxed = inquiry.relaxed()
        again = replace(queued, intent=relaxed.intent, pending=queued.tried, tried=(), is_new=True)
        return _anew(now, relaxed, again), gettext("nothing so far; searching more widely")
    is_stuck = not ranking.ranked or converged(ranking.before, ranking.best)
    now = replace(now, plan=queued, stuck=now.stuck + 1 if is_stuck else 0, is_cut_short=is_cut_short)
    end = _end(context, critique, now)
    note = _what_happened(now, critique) if end is None else ""
    now = replace(now, ranking=replace(ranking, before=ranking.best), note=note, end_reason=end)
    if end is not None:
        return now, gettext(_END[end])
    if not added:
        return now, gettext("looking once more")
    return now, ngettext("searching on, with {number} new phrasing", "searching on, with {number} new phrasings", added)


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
    rejected = [entry.company.company_name for entry in now.rejected]
    lines += [f"Left out by the ranking: {'; '.join(rejected)}."] if rejected else []
    lines += [f"{miss.company.company_name} misses: {'; '.join(miss.unmet)}." for miss in found.near_misses]
    return " ".join([*lines, critique.why])


def _anew(now: Round, inquiry: CompanyInquiry, plan: Plan | None) -> Round:
    """A round from which the search starts again with `inquiry`."""
    return Round(inquiry, now.nth, plan, Candidates(companies=now.found.companies))


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


# ---- rounds ----

TURNS_PER_ITERATION = 6
"""Plan, ranking and critique, each with one repair."""
ANSWER_TURNS = 7
"""The turns of a model that leads, and the text of an answer."""
ANSWER_RESERVE_SECONDS = 15.0


async def rounds(context: Context, timeline: Timeline, now: Round) -> AsyncGenerator[Event | Result]:
    """The events of the rounds of a search, and last its result. Raises TimeIsUp if there was no time to find anything."""
    while (now := _within_limits(context, now)).end_reason is None:
        context.run.iterations += 1
        now = replace(now, nth=context.run.iterations)
        async with aclosing(_round(context, timeline, now)) as steps:
            async for taken in steps:
                if isinstance(taken, Round):
                    now = taken
                else:
                    yield taken
    if not (now.inquiry.exact or now.ranking.ranked or now.found.pool or context.run.budget.seconds_left):
        raise TimeIsUp
    yield await conclude(context, now)


async def _round(context: Context, timeline: Timeline, now: Round) -> AsyncGenerator[Event | Round]:
    """The events of the steps of one round, and the state of the search after each."""
    for id, label, take in _STEPS:
        if now.end_reason is not None or context.is_late(bool(now.ranking.ranked)):
            return
        if not (name := label(context, now)):
            continue
        with timeline.step(f"{id}_{now.nth}", name) as step:
            yield step.event
            now, step.detail = await _taken(context, now, take)
        yield step.event
        yield now


Take = Callable[[Context, Round], Awaitable[tuple[Round, str]]]
"""A step: returns the state of the search, and the result in a line."""


async def _taken(context: Context, now: Round, take: Take) -> tuple[Round, str]:
    """The state of the search after a step. If the step fails after companies were ranked, these are the answer."""
    try:
        async with context.in_time():
            return await take(context, now)
    except (DatabaseUnavailable, TimeIsUp):
        if not now.ranking.ranked:
            raise
        context.run.degrade("company_search")
        return replace(now, is_cut_short=True, end_reason="guardrail_hit"), gettext("not finished")


def _plan_label(context: Context, now: Round) -> str:
    goes_on = now.plan is not None and not now.stuck and (now.plan.pending or now.plan.is_new)
    return "" if goes_on else gettext("Planning the search")


def _search_label(context: Context, now: Round) -> str:
    plan = now.planned
    phrasings = min(len(plan.pending), context.settings.company_variants_executed)
    if not phrasings:
        return gettext("Searching by the new plan") if plan.is_new else ""
    return ngettext("Searching {number} phrasing", "Searching {number} phrasings", phrasings)


def _rank_label(context: Context, now: Round) -> str:
    count = len(now.found.fitting[: context.settings.company_reranked_max])
    return ngettext("Ranking {number} company", "Ranking {number} companies", count) if count else ""


_STEPS: tuple[tuple[str, Callable[[Context, Round], str], Take], ...] = (
    ("plan", _plan_label, make_plan),
    ("search", _search_label, retrieve),
    ("filter", lambda context, now: gettext("Filtering"), keep_fitting),
    ("rank", _rank_label, rerank),
    ("critique", lambda context, now: gettext("Checking whether that is enough"), criticise),
)
"""The steps of a round with their ids and labels. A step with an empty label is skipped."""


def _within_limits(context: Context, now: Round) -> Round:
    """The same state, ended if the limits allow no more rounds."""
    if now.end_reason is not None:
        return now
    has_ranked = bool(now.ranking.ranked)
    is_spent = context.is_out_of_tokens or not context.may_call(has_ranked=has_ranked)
    is_cut_short = now.is_cut_short or is_spent
    if is_cut_short or context.run.iterations >= context.settings.company_max_iterations:
        return replace(now, is_cut_short=is_cut_short, end_reason="guardrail_hit")
    return now


def budget_of(settings: Settings) -> Budget:
    """The limits of one search."""
    return Budget(
        max_turns=settings.company_max_iterations * TURNS_PER_ITERATION + ANSWER_TURNS,
        max_calls=settings.company_max_tool_calls,
        max_seconds=settings.company_max_seconds,
        max_tokens=settings.company_max_tokens,
        reserved_seconds=min(ANSWER_RESERVE_SECONDS, settings.company_max_seconds / 4),
    )
