"""The rounds of a search: each plans, retrieves, filters and ranks, and a model decides whether that is enough. Without a model
one round does, unless it finds nothing under an assumption or phrasings are left. `rounds` is at the end; the steps stand before
it in their order.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace

from quarry.companies.contract import ActivityEvent, Company, EndReason
from quarry.companies.prompts import (
    VARIANTS_ADDED_MAX,
    VARIANTS_PLANNED_MAX,
    CompanyPlan,
    Critique,
    PlanFilters,
    Reranking,
    Search,
    critique_messages,
    plan_messages,
    rerank_messages,
)
from quarry.companies.ranking import offered_only, preferred_first, presentable, rerank_by_rule, worth_ranking
from quarry.companies.retrieval import PROMPT_TAGS_MAX, Context, Timeline, look_up, retrieve, taxonomy
from quarry.companies.sources import conditions_in_words, labels, meets_and_misses
from quarry.companies.state import (
    NEAR_MISSES_MAX,
    SOURCES,
    CompanyIntent,
    Entry,
    NearMiss,
    Plan,
    State,
    boosted,
    converged,
    distinct,
    has_niche,
    in_order,
    quantity,
    unmet,
)
from quarry.language.messages import gettext, gettext_noop, ngettext
from quarry.models.step import ModelStep, decide
from quarry.platform.budget import Budget
from quarry.platform.errors import DatabaseUnavailable, TimeIsUp
from quarry.platform.off_loop import off_loop
from quarry.platform.settings import Settings
from quarry.platform.text import topic_text, words

# ---- plan ----

NAME_SCORE_MIN = 0.45
"""The least score of a name at which a short question may be a misspelt name."""
NAME_QUESTION_WORDS_MAX = 4
DEFAULT_SEARCHES: tuple[Search, ...] = SOURCES
TARGET_COUNT = 10
LONG_TOPIC = 240
"""Topics with more characters are searched for in one phrasing, since another would hardly differ."""


async def make_plan(context: Context, state: State) -> str:
    """Plan what to search for and how. Phrasings are tried once; a plan with nothing new ends the search."""
    before, intent = state.plan, state.intent
    output = await _output(context, state)
    by_model = context.run.steps[-1].name == "company_plan" and "company_plan" not in context.run.degraded
    state.plan = _plan(context, state, output, by_model=by_model)
    state.queue(state.plan.output.query_variants, context.settings.company_variants_held)
    if by_model and not state.question.has_fixed_conditions:
        state.intent = intent.guessed(output.filters.statuses)
    if before is not None and not state.pending and state.intent == intent and _adds_nothing(state.plan, before):
        state.plan, state.end_reason = before, "converged"
        return gettext("nothing else to try")
    state.is_new = True
    return plan_in_words(state)


def _adds_nothing(plan: Plan, before: Plan) -> bool:
    """Whether the previous plan has the filters and searches of this one."""
    new, old = plan.output, before.output
    return new.filters == old.filters and {*new.search_priority_order} <= {*old.search_priority_order}


def plan_in_words(state: State) -> str:
    """A plan in a line."""
    filters = state.current_plan.filters
    tags = [*filters.categories, *filters.sectors, *filters.business_models]
    return "; ".join([quantity(len(state.pending), "phrasing"), *tags, *conditions_in_words(state.intent)])


async def _output(context: Context, state: State) -> CompanyPlan:
    question = state.question

    def by_rule(_: object) -> CompanyPlan:
        is_name = _may_be_a_name(context, state)
        return plan_by_rule(context.request.question, state.intent, question.seed, is_name=is_name)

    if context.run.chat is None or _plans_by_rule(context, state):
        with context.run.step("plan_by_rule") as record:
            plan = by_rule(None)
            record.counts["variants"] = len(plan.query_variants)
        return plan
    tags = await taxonomy(context.services.reader)
    step = ModelStep(
        "company_plan",
        lambda _: plan_messages(context.request, question.seed, state.tried, state.note, tags),
        CompanyPlan,
        by_rule,
    )
    plan = await decide(step, state, context.run)
    plan = plan.model_copy(update={"filters": _as_in_taxonomy(plan.filters, tags)})
    context.note(variants=len(plan.query_variants))
    return plan


def _as_in_taxonomy(filters: PlanFilters, tags: Mapping[str, Sequence[str]]) -> PlanFilters:
    """The filters with sectors, categories and business models as the data spells them. Unknown ones are dropped if the model was
    given the full list.
    """
    spelt: dict[str, list[str]] = {}
    for field, kind in (("sectors", "sectors"), ("categories", "categories"), ("business_models", "business models")):
        values = {value.casefold(): value for value in tags.get(kind, ())}
        is_whole = len(values) < PROMPT_TAGS_MAX
        own = (
            values.get(" ".join(value.split()).casefold(), None if is_whole else value)
            for value in getattr(filters, field)
        )
        spelt[field] = list(dict.fromkeys(value for value in own if value is not None))
    return filters.model_copy(update=spelt)


def _plans_by_rule(context: Context, state: State) -> bool:
    """Whether the plan is made without the model: by setting, or because the question is just one known tag."""
    if context.settings.company_planner == "never":
        return True
    intent = state.intent
    is_simple = intent.is_plain and len(intent.tags) == 1 and not (intent.is_stated or intent.asks)
    is_new = not context.request.history and state.question.seed is None
    return context.settings.company_planner == "auto" and is_simple and is_new


def _may_be_a_name(context: Context, state: State) -> bool:
    """Whether a short question may be a misspelt name."""
    question = state.question
    score = question.matches[0].name_score if question.matches and not question.likened else 0.0
    return score >= NAME_SCORE_MIN and len(words(context.request.question)) <= NAME_QUESTION_WORDS_MAX


def _plan(context: Context, state: State, output: CompanyPlan, *, by_model: bool) -> Plan:
    """The plan for an output. Companies like a seed are searched for by its profile, not by its name."""
    variants, seed = output.query_variants, state.question.seed
    if seed is not None:
        name = seed.company_name.casefold()
        variants = [variant for variant in variants if name not in variant.casefold()] + seed_variants(seed)
    excluded = [words.casefold() for words in state.intent.excluded]
    variants = [each for each in distinct(variants) if not any(words in each.casefold() for words in excluded)]
    output = output.model_copy(
        update={
            "query_variants": variants or [context.request.question],
            "search_priority_order": _searches_of(output),
        }
    )
    previous = context.request.previous_candidate_ids
    only = tuple(previous) if output.intent == "narrow" and previous and not state.is_widened else None
    return Plan(output, only, by_model)


def _searches_of(plan: CompanyPlan) -> list[Search]:
    """The searches of a plan, each once; the default ones if none of them finds anything."""
    order = list(dict.fromkeys(plan.search_priority_order))
    filters = plan.filters
    has_tags = bool(filters.sectors or filters.categories or filters.business_models)
    finds = {"hybrid", "keyword"} & set(order) or ("taxonomy" in order and has_tags)
    return order if finds else [*order, *(search for search in DEFAULT_SEARCHES if search not in order)]


def plan_by_rule(question: str, intent: CompanyIntent, seed: Company | None, *, is_name: bool) -> CompanyPlan:
    """A plan from what the question seeks. `is_name`: the question is similar to the name of a company."""
    topic, tags = intent.topic, intent.tags
    searches: list[Search] = ["exact_name"] if is_name else []
    searches += ["taxonomy"] if intent.is_plain else []
    searches += ["hybrid", "keyword"]
    searches += ["taxonomy"] if (tags or seed) and not intent.is_plain else []

    def tagged(field: str) -> list[str]:
        return list(dict.fromkeys(value for group in tags for value in sorted(group.values(field))))

    return CompanyPlan(
        intent="find_company" if is_name else "discover",
        target_result_count=intent.count or TARGET_COUNT,
        query_variants=_variants(intent, seed) or [question],
        search_priority_order=searches,
        filters=PlanFilters(
            sectors=tagged("sector"), categories=tagged("category"), business_models=tagged("business_model")
        ),
        success_criteria=f"Companies about: {topic}" if topic else "Companies that meet the demands",
    )


def _variants(intent: CompanyIntent, seed: Company | None) -> list[str]:
    topic = intent.topic
    if seed is not None:
        wished = [f"{topic}: {', '.join(seed.niches)}"] if topic else []
        return [*wished, *seed_variants(seed)][:VARIANTS_PLANNED_MAX]
    tags = [str(value) for group in intent.tags for each in group.conditions for value in each.scalars]
    is_short = topic and len(topic) < LONG_TOPIC
    return distinct([topic, topic_text(topic) if is_short else "", ", ".join(tags) if intent.is_plain else ""])[
        :VARIANTS_PLANNED_MAX
    ]


def seed_variants(seed: Company) -> list[str]:
    """Phrasings of what a company does, from its profile, without its name."""
    texts = (", ".join(seed.niches), seed.tagline, seed.product_description, seed.problem_solved, seed.target_customer)
    return distinct(_without_name(text, seed) for text in texts if text)[:VARIANTS_PLANNED_MAX]


def _without_name(text: str, company: Company) -> str:
    for name in (company.company_name, *company.former_names):
        text = text.replace(name, " ")
    return text


# ---- filter ----


async def keep_fitting(context: Context, state: State) -> str:
    """Read the best candidates in full and keep those that meet the conditions. Companies found by name may not."""
    question, seed_id = state.question, state.question.seed.id if state.question.seed else None
    ordered = in_order(state.pool.values(), state.name_scores)[: context.settings.company_hydrated_max]
    ids = [each.company_id for each in ordered]
    state.companies = await look_up(context, ids, state.companies or question.companies)
    with context.run.step("company_filter") as record:
        entries = [
            Entry(state.companies[each.company_id], each, state.name_scores.get(each.company_id, 0.0))
            for each in ordered
            if each.company_id in state.companies
            and each.company_id not in question.excluded_ids
            and each.company_id != seed_id
        ]
        # the preferred conditions follow the required ones
        conditions = (*state.conditions, *state.intent.preferred)
        met = await meets_and_misses(context.services.reader, conditions, [entry.company.id for entry in entries])
        state.fitting, state.near_misses = await off_loop(_parted, context, state, entries, met)
        record.counts.update(before=len(entries), after=len(state.fitting))
    return ngettext(
        "{fitting} of {number} company fit",
        "{fitting} of {number} companies fit",
        len(entries),
        fitting=len(state.fitting),
    )


def _parted(
    context: Context, state: State, entries: Sequence[Entry], met: Mapping[str, Sequence[bool]]
) -> tuple[list[Entry], list[NearMiss]]:
    """The entries that fit, best first, and the best ones that do not."""
    filters, conditions = state.current_plan.filters, state.conditions
    misses = {
        entry.company.id: [
            *labels(unmet(conditions, met.get(entry.company.id, ()))),
            *(
                gettext("“{text}”", text=words)
                for words in state.question.required_words
                if not has_niche(entry.company, words)
            ),
        ]
        for entry in entries
    }
    preferred = max(1, len(state.intent.preferred))
    fitting = [
        replace(entry, preference=sum(met.get(entry.company.id, ())[len(conditions) :]) / preferred)
        for entry in entries
        if not misses[entry.company.id]
    ]
    if state.plan and state.plan.by_model:
        fitting = as_planned(fitting, filters)
    missed = sorted(
        (entry for entry in entries if misses[entry.company.id]), key=lambda entry: (-entry.score, entry.company.id)
    )
    best = boosted(fitting, filters.niches, context.settings.company_niche_weight)
    near = [NearMiss(entry.company, misses[entry.company.id]) for entry in missed[:NEAR_MISSES_MAX]]
    return best[: context.settings.company_filtered_max], near


def as_planned(entries: Sequence[Entry], filters: PlanFilters) -> list[Entry]:
    """The entries that the model's plan allows. A demand that no entry meets is dropped."""
    allowed = list(entries)
    for tags, tags_of in _demanded_tags(filters):
        allowed = [entry for entry in allowed if _share_any(tags, tags_of(entry.company))] or allowed
    if filters.niche_mode == "must_match":
        allowed = [
            entry for entry in allowed if any(has_niche(entry.company, each) for each in filters.niches)
        ] or allowed
    return allowed


def met_by_none(entries: Sequence[Entry], filters: PlanFilters) -> list[str]:
    """The tags of the model's plan that were dropped because no entry has one of their kind."""
    return [
        name
        for tags, tags_of in _demanded_tags(filters)
        if not any(_share_any(tags, tags_of(each.company)) for each in entries)
        for name in tags
    ]


def _demanded_tags(filters: PlanFilters) -> Iterator[tuple[Sequence[str], Callable[[Company], Sequence[str]]]]:
    """The tags that a plan demands, by kind, with a function that gives those of a company."""
    yield (*filters.sectors, *filters.categories), lambda company: (*company.sectors, *company.categories)
    yield filters.business_models, lambda company: company.business_models


def _share_any(names: Sequence[str], others: Sequence[str]) -> bool:
    return not {name.strip().casefold() for name in names}.isdisjoint(name.casefold() for name in others)


# ---- rank ----


async def rerank(context: Context, state: State) -> str:
    """Rank the companies that fit. Companies that the model was not given are dropped from its answer."""
    question, settings = state.question, context.settings
    offered = state.fitting[: settings.company_reranked_max]
    ids = [entry.company.id for entry in offered]
    demands = conditions_in_words(state.intent)

    def by_rule(_: Sequence[Entry]) -> Reranking:
        return rerank_by_rule(offered, state.intent, question.seed, by_meaning=state.by_meaning)

    step = ModelStep[Sequence[Entry], Reranking](
        "company_rerank",
        lambda entries: rerank_messages(context.request.question, state.current_plan, entries, question.seed, demands),
        Reranking,
        by_rule,
    )
    entries = offered if context.run.chat is None else worth_ranking(offered, settings.company_reranked_share_min)
    ranking = await decide(step, entries, context.run)
    if context.is_late(bool(state.ranked)):
        return gettext("not finished")
    ranked = offered_only(ranking, ids)
    if ranking.ranked_company_ids and not ranked:
        context.run.degrade("company_rerank", context.run.steps[-1])
        ranking = await off_loop(by_rule, offered)
        ranked = offered_only(ranking, ids)
    ranked = preferred_first(ranked, offered)
    ranked = await off_loop(
        lambda: [presentable(state.companies[each.company_id], each, question.seed) for each in ranked]
    )
    is_by_rule = context.run.chat is None or "company_rerank" in context.run.degraded
    least = settings.company_accepted_confidence_min
    if is_by_rule:
        state.ranked = ranked if ranked and ranking.confidence >= least else []
    else:
        state.ranked = [each for each in ranked if each.confidence >= least]
    state.nearest = ranked if is_by_rule and not state.ranked else ()
    state.confidence = ranking.confidence if state.ranked else 0.0
    context.note(before=len(offered), after=len(state.ranked))
    return gettext("{number} of {all} may answer the question", number=len(state.ranked), all=len(offered))


# ---- critique ----

_END: dict[EndReason, str] = {
    "confidence_met": gettext_noop("enough"),
    "converged": gettext_noop("nothing new turns up"),
    "guardrail_hit": gettext_noop("the limits of a search are reached"),
}
_ENOUGH = Critique(decision="stop")
"""The critique without a model: a plan by rule has searched for all that the question says."""


async def criticise(context: Context, state: State) -> str:
    """Let the model decide whether another round can help: end the search, or prepare the next round."""
    demands, target = conditions_in_words(state.intent), context.settings.company_confidence_target
    step = ModelStep[State, Critique](
        "company_critique",
        lambda state: critique_messages(context.request.question, state, target, demands),
        Critique,
        lambda _: _ENOUGH,
    )
    return judge(context, state, await decide(step, state, context.run))


def judge(context: Context, state: State, critique: Critique) -> str:
    """End the search, or prepare the next round; returns that in a line. A model's "stop" ends the search."""
    added = state.queue(critique.new_query_variants[:VARIANTS_ADDED_MAX], context.settings.company_variants_held)
    if critique is not _ENOUGH:
        context.note(new_variants=added)
    is_cut_short = state.is_cut_short or context.run.budget.seconds_for_work <= 0
    if state.only is not None and not state.fitting:
        state.widen()
        return gettext("none of the companies shown before fits; searching all")
    # a guess is given up only if no company meets it
    may_relax = bool(state.plan and state.plan.by_model) or not state.intent.guesses or not state.fitting
    if not state.ranked and state.intent.assumed and may_relax and state.only is None and not is_cut_short:
        state.relax()
        return gettext("nothing so far; searching more widely")
    is_stuck = not state.ranked or converged(state.best_before, state.best)
    state.stuck, state.is_cut_short = state.stuck + 1 if is_stuck else 0, is_cut_short
    state.end_reason = end = _end(context, state, critique)
    state.note = _report(state, critique) if end is None else ""
    state.best_before = state.best
    if end is not None:
        return gettext(_END[end])
    if not added:
        return gettext("looking once more")
    return ngettext("searching on, with {number} new phrasing", "searching on, with {number} new phrasings", added)


def _report(state: State, critique: Critique) -> str:
    """The result of a round, for the next plan."""
    conditions = "; ".join(conditions_in_words(state.intent)) or "none"
    filters = state.current_plan.filters
    demanded = filters.model_dump(by_alias=True, exclude_defaults=True) or "none"
    lines = [
        f"{len(state.pool)} companies found; {len(state.fitting)} met the user's conditions ({conditions}) and your filters "
        f"({demanded}).",
        f"{len(state.ranked)} answer the question{', the same as before' if state.ranked and state.stuck else ''}.",
    ]
    dropped = met_by_none(state.fitting, filters)
    lines += [f"None has {', '.join(dropped)}: that filter was dropped."] if dropped and state.fitting else []
    rejected = [entry.company.company_name for entry in state.rejected]
    lines += [f"Left out by the ranking: {'; '.join(rejected)}."] if rejected else []
    lines += [f"{miss.company.company_name} misses: {'; '.join(miss.unmet)}." for miss in state.near_misses]
    return " ".join([*lines, critique.why])


def _end(context: Context, state: State, critique: Critique) -> EndReason | None:
    if state.is_cut_short:
        return "guardrail_hit"
    if critique.decision == "stop" and state.confidence >= context.settings.company_confidence_target:
        return "confidence_met"
    by_rule = critique is _ENOUGH
    if critique.decision == "stop" and not by_rule:
        return "converged"
    # by rule, another round without new phrasings gives the same result; the first time, the model plans again
    has_converged = not state.pending or converged(state.best_before, state.best)
    is_over = has_converged if by_rule else state.stuck > 1
    return "converged" if is_over else None


# ---- rounds ----

TURNS_PER_ITERATION = 6
"""Plan, ranking and critique, each with one repair."""
ANSWER_TURNS = 7
"""The turns of a model that leads, and the text of an answer."""
ANSWER_RESERVE_SECONDS = 15.0


async def rounds(context: Context, timeline: Timeline, state: State) -> AsyncGenerator[ActivityEvent]:
    """The events of a search, whose result is in `state` at the end. Raises TimeIsUp if there was no time to find anything."""
    while _goes_on(context, state):
        context.run.iterations += 1
        state.rounds = context.run.iterations
        async with aclosing(_round(context, timeline, state)) as events:
            async for event in events:
                yield event
    if not (state.question.exact or state.ranked or state.pool or context.run.budget.seconds_left):
        raise TimeIsUp


Step = Callable[[Context, State], Awaitable[str]]
"""A step: sets its part of the state, and returns its result in a line."""


async def _round(context: Context, timeline: Timeline, state: State) -> AsyncGenerator[ActivityEvent]:
    """The events of the steps of one round. A step with an empty label is skipped."""
    steps: tuple[tuple[str, Callable[[Context, State], str], Step], ...] = (
        ("plan", _plan_label, make_plan),
        ("search", _search_label, retrieve),
        ("filter", lambda context, state: gettext("Filtering"), keep_fitting),
        ("rank", _rank_label, rerank),
        ("critique", _critique_label, criticise),
    )
    for id, label, take in steps:
        if state.end_reason is not None or context.is_late(bool(state.ranked)):
            return
        if name := label(context, state):
            with timeline.step(f"{id}_{state.rounds}", name) as step:
                yield step.event
                step.detail = await _run_step(context, state, take)
            yield step.event
    if context.run.chat is None and state.end_reason is None and not context.is_late(bool(state.ranked)):
        judge(context, state, _ENOUGH)


async def _run_step(context: Context, state: State, take: Step) -> str:
    """The result of a step. If it fails after companies were ranked, these are the answer."""
    try:
        async with context.in_time():
            return await take(context, state)
    except (DatabaseUnavailable, TimeIsUp):
        if not state.ranked:
            raise
        context.run.degrade("company_search")
        state.is_cut_short, state.end_reason = True, "guardrail_hit"
        return gettext("not finished")


def _plan_label(context: Context, state: State) -> str:
    goes_on = state.plan is not None and not state.stuck and (state.pending or state.is_new)
    return "" if goes_on else gettext("Planning the search")


def _search_label(context: Context, state: State) -> str:
    phrasings = min(len(state.pending), context.settings.company_variants_executed)
    if not phrasings:
        return gettext("Searching by the new plan") if state.is_new else ""
    return ngettext("Searching {number} phrasing", "Searching {number} phrasings", phrasings)


def _rank_label(context: Context, state: State) -> str:
    count = len(state.fitting[: context.settings.company_reranked_max])
    return ngettext("Ranking {number} company", "Ranking {number} companies", count) if count else ""


def _critique_label(context: Context, state: State) -> str:
    return "" if context.run.chat is None else gettext("Checking whether that is enough")


def _goes_on(context: Context, state: State) -> bool:
    """Whether the search goes on. Where the limits allow no more rounds, they end it."""
    if state.end_reason is not None:
        return False
    is_spent = context.is_out_of_tokens or not context.may_call(has_ranked=bool(state.ranked))
    state.is_cut_short = state.is_cut_short or is_spent
    if state.is_cut_short or context.run.iterations >= context.settings.company_max_iterations:
        state.end_reason = "guardrail_hit"
    return state.end_reason is None


def budget_of(settings: Settings) -> Budget:
    """The limits of one search."""
    return Budget(
        max_turns=settings.company_max_iterations * TURNS_PER_ITERATION + ANSWER_TURNS,
        max_calls=settings.company_max_tool_calls,
        max_seconds=settings.company_max_seconds,
        max_tokens=settings.company_max_tokens,
        reserved_seconds=min(ANSWER_RESERVE_SECONDS, settings.company_max_seconds / 4),
    )
