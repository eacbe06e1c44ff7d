"""Candidates: the waiting phrasings embedded and searched for, the taxonomy looked through, the best read whole and filtered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from quarry.companies.activity import counted
from quarry.companies.anchors import NAME_WORDS_MAX, NAMES_MAX
from quarry.companies.contract import STATUSES
from quarry.companies.facets import COMPANIES
from quarry.companies.found import Candidate, Source, Variant, merge
from quarry.companies.naming import look_up, match_names
from quarry.companies.query import TAG_FACETS
from quarry.companies.ranking import Entry, boosted, distinct, in_order
from quarry.companies.retrieval import find_by_taxonomy, fitting_ids, retrieve_variants
from quarry.companies.state import NearMiss, SearchState
from quarry.core.errors import DatabaseUnavailable, ModelError
from quarry.core.off_loop import off_loop
from quarry.core.query.question import Clause
from quarry.core.retrieval.questions import Standing, labels_of, standings
from quarry.core.run_log import StepRecord

NEAR_MISSES_MAX = 3
SEED_VECTORS_MAX = 4
"""So many passages of a seed company's profile are compared with those of others."""


async def gather(state: SearchState) -> str:
    """Search for the phrasings that wait, as many as one iteration takes, and once for each plan by name and by taxonomy."""
    variants = state.pending[: state.limits.variants_executed]
    state.pending = state.pending[len(variants) :]
    state.tried += variants
    before = len(state.pool)
    await _close_in(state)
    if state.is_closed_set:
        _merge(state, [Candidate(id) for id in state.include_ids or ()])
    searches = [lambda: _search_variants(state, variants)] if variants else []
    if state.plan_is_new:
        state.plan_is_new = False
        searches += [lambda: _search_names(state), lambda: _search_taxonomy(state)]
    await _take_all(state, searches)
    return f"{counted(len(state.pool), 'company', 'companies')}, {len(state.pool) - before} of them new"


async def _close_in(state: SearchState) -> None:
    """Where few companies meet what is stated, look at all of them; where nothing else is asked, at as many as are looked at."""
    if state.is_narrowed or not (state.sought.stated or state.sought.excluded):
        return
    if not state.may_call(2):
        return
    with state.run.step("companies_by_fields") as record:
        state.run.budget.spend_call()
        most = state.limits.hydrated_max
        ids = await fitting_ids(state.services.database, state.filter, most + 1)
        record.counts["found"] = len(ids)
    if len(ids) <= most or not (state.sought.topic or state.anchor):
        state.include_ids = ids[:most]


async def _take_all(state: SearchState, searches: Sequence[Callable[[], Awaitable[None]]]) -> None:
    """Search in these ways. Where the database fails one of them, others may still find; if none does, its error is raised."""
    failure: DatabaseUnavailable | None = None
    for search in searches:
        try:
            await search()
        except DatabaseUnavailable as error:
            state.is_cut_short, failure = True, error
    if failure is not None:
        if not state.pool:
            raise failure
        state.run.degrade("company_search")


async def _embed(state: SearchState, variants: Sequence[str]) -> Sequence[list[float] | None] | None:
    """The phrasings' vectors; None where there are none to compare them with, or the model failed.

    What is like a seed company is found by the vectors that are stored of it; its own words then are searched for as words.
    """
    if "hybrid" not in state.the_plan.search_priority_order:
        return None
    if state.seed_vectors and not state.sought.topic:
        return [None] * len(variants)
    with state.run.step("query_embedding") as record:
        record.counts["variants"] = len(variants)
        try:
            return await state.services.queries.embed_all(variants, seconds=state.run.budget.seconds_for_work)
        except ModelError:
            state.run.degrade("query_embedding", record)
            return None


async def _search_variants(state: SearchState, variants: Sequence[str]) -> None:
    """Hybrid and keyword search of all phrasings in one round trip. Without vectors: by words alone."""
    vectors = await _embed(state, variants)
    order = state.the_plan.search_priority_order
    wanted: dict[Source, bool] = {
        "hybrid": "hybrid" in order and vectors is not None,
        "keyword": "keyword" in order or ("hybrid" in order and vectors is None),
    }
    run = [source for source, is_wanted in wanted.items() if is_wanted]
    while run and not state.may_call(len(run)):
        state.is_cut_short = True
        run.pop()
    if not run:
        return
    with ExitStack() as steps:
        records = {source: steps.enter_context(state.run.step(f"search_companies_{source}_v1")) for source in run}
        for _ in run:
            state.run.budget.spend_call()
        found = await retrieve_variants(
            state.services.database,
            [Variant(text, vector) for text, vector in zip(variants, vectors or [None] * len(variants), strict=True)]
            + [Variant("", vector) for vector in state.seed_vectors[:SEED_VECTORS_MAX] if "hybrid" in run],
            statuses=None,
            include_ids=state.include_ids,
            filter=state.filter,
            exclude_ids=[state.anchor.id] if state.anchor else [],
            hybrid="hybrid" in run,
            keyword="keyword" in run,
            limit=state.limits.retrieved_max,
            scoring=replace(state.limits.scoring, min_semantic=-1.0) if state.is_closed_set else state.limits.scoring,
        )
        for source, record in records.items():
            by_source = [candidate for candidate in found if source in candidate.found_by]
            _add(state, by_source, record, variants=len(variants))


async def _search_names(state: SearchState) -> None:
    """Companies whose names are like the question, where the plan expects a name."""
    if "exact_name" not in state.the_plan.search_priority_order or state.anchor:
        return
    if not state.may_call():
        state.is_cut_short = True
        return
    variants = [variant for variant in state.the_plan.query_variants if len(variant.split()) <= NAME_WORDS_MAX]
    names = distinct([*state.names.names, *variants])[:NAMES_MAX]
    matches = await match_names(state, names, STATUSES)
    for match in matches:
        if state.include_ids is None or match.company_id in state.include_ids:
            state.name_scores[match.company_id] = max(match.name_score, state.name_scores.get(match.company_id, 0.0))
    before = len(state.pool)
    _merge(state, [Candidate(id) for id in state.name_scores])
    if matches:
        state.run.steps[-1].counts.update(before=before, after=len(state.pool))


async def _search_taxonomy(state: SearchState) -> None:
    """Companies filed under the plan's tags, or under those that its question names."""
    sectors, categories, models = tags_of(state)
    if "taxonomy" not in state.the_plan.search_priority_order or not (sectors or categories or models):
        return
    if not state.may_call():
        state.is_cut_short = True
        return
    with state.run.step("search_companies_by_taxonomy_v1") as record:
        state.run.budget.spend_call()
        found = await find_by_taxonomy(
            state.services.database,
            sectors,
            categories,
            models,
            None,
            state.limits.taxonomy_max,
            filter=state.filter,
        )
        allowed = None if state.include_ids is None else set(state.include_ids)
        kept = [candidate for candidate in found if allowed is None or candidate.company_id in allowed]
        _add(state, kept, record)


def tags_of(state: SearchState) -> tuple[list[str], list[str], list[str]]:
    """Sectors, categories and business models to look for: those of the filters, and what the question names besides."""
    filters = state.the_plan.filters
    if state.anchor is not None:
        return [], list(state.anchor.categories), []
    named = {
        facet: [value for group in state.sought.tags for value in sorted(group.values(facet))] for facet in TAG_FACETS
    }
    return (
        list(dict.fromkeys([*filters.sectors, *named["sector"]])),
        list(dict.fromkeys([*filters.categories, *named["category"]])),
        list(dict.fromkeys([*filters.business_models, *named["business_model"]])),
    )


def _add(state: SearchState, found: Sequence[Candidate], record: StepRecord, **counts: int) -> None:
    """Merge candidates into the pool and note true counts."""
    before = len(state.pool)
    _merge(state, found)
    record.counts.update({"found": len(found)} | counts | {"before": before, "after": len(state.pool)})


def _merge(state: SearchState, found: Iterable[Candidate]) -> None:
    state.pool = {candidate.company_id: candidate for candidate in merge([*state.pool.values(), *found])}


async def keep_fitting(state: SearchState) -> str:
    """Read the best candidates whole and keep those that meet the plan's filters and the demands on their fields."""
    ordered = in_order(state.pool.values(), state.name_scores)[: state.limits.hydrated_max]
    companies = {company.id: company for company in await look_up(state, [c.company_id for c in ordered])}
    with state.run.step("company_filter") as record:
        entries = [
            Entry(companies[c.company_id], c, state.name_scores.get(c.company_id, 0.0))
            for c in ordered
            if c.company_id in companies and not (state.anchor and c.company_id == state.anchor.id)
        ]
        state.standings.update(await _standings(state, [entry.company.id for entry in entries]))
        state.entries, state.near_misses = await off_loop(_parted, state, entries)
        record.counts.update(before=len(entries), after=len(state.entries))
    return f"{len(state.entries)} of {counted(len(entries), 'company', 'companies')} fit"


async def _standings(state: SearchState, ids: Sequence[str]) -> Mapping[str, Standing]:
    """Which clauses each company meets and misses."""
    clauses = _clauses(state)
    if not clauses or not ids:
        return {}
    return await standings(state.services.database, COMPANIES, clauses, ids)


def _clauses(state: SearchState) -> Sequence[Clause]:
    return state.sought.stated if state.is_narrowed else state.sought.clauses


def _parted(state: SearchState, entries: Sequence[Entry]) -> tuple[list[Entry], list[NearMiss]]:
    """The entries that fit, best first, and the best of those that do not."""
    filters, clauses = state.the_plan.filters, _clauses(state)
    nothing = Standing()
    misses = {entry.company.id: state.standings.get(entry.company.id, nothing).misses for entry in entries}
    fitting = [entry for entry in entries if not misses[entry.company.id]]
    missed = sorted(
        (entry for entry in entries if misses[entry.company.id]), key=lambda entry: (-entry.score, entry.company.id)
    )
    return (
        boosted(fitting, filters, state.limits.niche_weight)[: state.limits.filtered_max],
        [
            NearMiss(entry.company, labels_of(COMPANIES, clauses, misses[entry.company.id]))
            for entry in missed[:NEAR_MISSES_MAX]
        ],
    )
