"""Finds candidates: by the pending phrasings, by name, and by tags."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from quarry.companies.activity import counted
from quarry.companies.candidates import CompanyCandidate, Source, Variant, merge
from quarry.companies.context import CompaniesInScope, CompanyInquiry, Context, Plan, Round
from quarry.companies.facets import TAG_FACETS
from quarry.companies.name_lookup import match_names
from quarry.companies.names import NAME_WORDS_MAX, NAMES_MAX
from quarry.companies.ranking import distinct
from quarry.companies.store import (
    are_expected,
    compared_max,
    few_fitting_ids,
    find_by_taxonomy,
    fitting_ids,
    retrieve_variants,
    row_filter,
)
from quarry.platform.errors import DatabaseUnavailable, ModelError
from quarry.platform.off_loop import off_loop
from quarry.runs.run_log import StepRecord

SEED_VECTORS_MAX = 4
"""How many passages of a seed company are compared with others."""
LISTED_MAX = 2000
"""Up to so many companies that meet the conditions are searched by their ids."""


async def retrieve(context: Context, now: Round) -> tuple[Round, str]:
    """Search for the pending phrasings of one round, and once for each plan by name and by tags, among the companies that meet
    the plan's conditions.

    If one search fails, the others continue. Raises DatabaseUnavailable if nothing was found then.
    """
    before = now.found
    search = _RoundSearch(context, now, await _scope(now))
    await search.close_in()
    is_new, (plan, variants) = now.planned.is_new, now.planned.taken(context.settings.company_variants_executed)
    searches: list[Callable[[], Awaitable[None]]] = [lambda: search.by_variants(variants)] if variants else []
    if is_new:
        searches += [search.by_name, search.by_tags]
    failure: DatabaseUnavailable | None = None
    for find in searches:
        try:
            await find()
        except DatabaseUnavailable as error:
            search.is_cut_short, failure = True, error
    if failure is not None:
        if not search.pool:
            raise failure
        context.run.degrade("company_search")
    pool = len(search.pool)
    found = replace(
        before,
        scope=search.scope,
        pool=search.pool,
        name_scores=search.name_scores,
        is_cut_short=before.is_cut_short or search.is_cut_short,
    )
    detail = f"{counted(pool, 'company', 'companies')}, {pool - len(before.pool)} of them new"
    return replace(now, plan=plan, found=found), detail


async def _scope(now: Round) -> CompaniesInScope:
    """The scope of a plan: that of the previous round, if the conditions are the same."""
    plan, before = now.planned, now.found.scope
    conditions, excluded = plan.conditions, plan.intent.excluded
    in_order = not (plan.intent.topic or now.inquiry.seed)
    if before is not None and (before.conditions, before.excluded, before.in_order) == (conditions, excluded, in_order):
        return before
    return CompaniesInScope(conditions, excluded, in_order, await off_loop(row_filter, conditions, excluded))


class _RoundSearch:
    """The searches of one round, and the candidates that they found."""

    def __init__(self, context: Context, now: Round, scope: CompaniesInScope) -> None:
        self._context, self._asked, self._plan, self.scope = context, now.inquiry, now.planned, scope
        self._database = context.services.reader
        self._only: Sequence[str] | None = self._plan.only
        self._among: Sequence[str] | None = self._plan.only
        self.pool: Mapping[str, CompanyCandidate] = now.found.pool
        self.name_scores = dict(now.found.name_scores)
        self.is_cut_short = False

    @property
    def _is_closed(self) -> bool:
        """Whether so few companies are searched that all of them become candidates."""
        return self._only is not None and len(self._only) <= self._context.settings.company_hydrated_max

    async def close_in(self) -> None:
        """If few companies meet the conditions, make all of them candidates; if nothing else is asked, the newest. If there are
        not too many, search by their ids.
        """
        if self._only is None and self._plan.intent.is_stated and self._context.may_call(2):
            most = self._context.settings.company_hydrated_max
            ids = await self._fitting()
            self.is_cut_short = self.is_cut_short or self.scope.is_cut_short
            if self.scope.are_many:
                return
            if len(ids) <= most or self.scope.in_order:
                self._only = self._among = ids[:most]
            elif len(ids) <= LISTED_MAX:
                self._among = ids
        if self._is_closed:
            self._merge(CompanyCandidate(id) for id in self._only or ())

    async def _fitting(self) -> Sequence[str]:
        """The companies that meet the conditions, up to one more than the limits; none if they `are_many`."""
        if self.scope.ids is None:
            with self._context.run.step("companies_by_fields") as record:
                self._context.run.budget.spend_call()
                settings, scope, is_cut_short = self._context.settings, self.scope, False
                most = max(LISTED_MAX, compared_max(settings.company_retrieved_max)) + 1
                if scope.in_order:
                    most = settings.company_hydrated_max
                if not (scope.in_order or scope.excluded):
                    ids = await fitting_ids(self._database, scope.filter, most)
                elif not scope.in_order and await are_expected(self._database, scope.filter, LISTED_MAX):
                    # no index finds rows without a word: a walk over the vectors costs less than reading the table
                    ids, scope = [], replace(scope, are_many=True)
                else:
                    ids, is_cut_short = await few_fitting_ids(
                        self._database, scope.conditions, scope.filter, most, latest=scope.in_order
                    )
                if not scope.are_many:
                    record.counts["found"] = len(ids)
            self.scope = replace(scope, ids=ids, is_cut_short=is_cut_short)
        return self.scope.ids or ()

    async def by_variants(self, variants: Sequence[str]) -> None:
        """Search all phrasings by words and meaning in one round trip; without vectors, by words alone."""
        vectors = await self._embed(variants)
        order = self._plan.output.search_priority_order
        wanted: dict[Source, bool] = {
            "hybrid": "hybrid" in order and vectors is not None,
            "keyword": "keyword" in order or ("hybrid" in order and vectors is None),
        }
        run = [source for source, is_wanted in wanted.items() if is_wanted]
        while run and not self._context.may_call(len(run)):
            self.is_cut_short = True
            run.pop()
        if run:
            phrasings = [
                Variant(text, vector) for text, vector in zip(variants, vectors or [None] * len(variants), strict=True)
            ]
            seeds = [Variant("", vector) for vector in self._asked.seed_vectors[:SEED_VECTORS_MAX]]
            await self._run(run, [*phrasings, *(seeds if "hybrid" in run else ())], len(variants))

    async def _embed(self, variants: Sequence[str]) -> Sequence[list[float] | None] | None:
        """The vectors of the phrasings; None if nothing is embedded, or if the model failed."""
        if "hybrid" not in self._plan.output.search_priority_order:
            return None
        run = self._context.run
        with run.step("query_embedding") as record:
            record.counts["variants"] = len(variants)
            try:
                return await self._context.services.queries.embed_all(variants, seconds=run.budget.seconds_for_work)
            except ModelError as error:
                run.degrade("query_embedding", record, error)
                return [None] * len(variants) if self._asked.seed_vectors else None

    async def _run(self, sources: Sequence[Source], variants: Sequence[Variant], phrasings: int) -> None:
        run, settings = self._context.run, self._context.settings
        with ExitStack() as steps:
            records = {source: steps.enter_context(run.step(f"search_companies_{source}_v1")) for source in sources}
            for _ in sources:
                run.budget.spend_call()
            found = await retrieve_variants(
                self._database,
                variants,
                settings,
                include_ids=self._among,
                filter=self.scope.filter,
                fitting=self.scope.ids if self._among is None else None,
                fits_many=self._among is None and self.scope.are_many,
                exclude_ids=[self._asked.seed.id] if self._asked.seed else [],
                hybrid="hybrid" in sources,
                keyword="keyword" in sources,
                limit=settings.company_retrieved_max,
                min_semantic=-1.0 if self._is_closed else None,
            )
            for source, record in records.items():
                by_source = [candidate for candidate in found if source in candidate.found_by]
                self._add(by_source, record, variants=phrasings)

    async def by_name(self) -> None:
        """Find companies by name, if the plan expects a name."""
        output = self._plan.output
        if "exact_name" not in output.search_priority_order or self._asked.seed:
            return
        if not self._context.may_call():
            self.is_cut_short = True
            return
        variants = [variant for variant in output.query_variants if len(variant.split()) <= NAME_WORDS_MAX]
        names = distinct([*(name.text for name in self._asked.names), *variants])[:NAMES_MAX]
        matches = await match_names(self._context, names)
        for match in matches:
            if self._only is None or match.company_id in self._only:
                score = self.name_scores.get(match.company_id, 0.0)
                self.name_scores[match.company_id] = max(match.name_score, score)
        before = len(self.pool)
        self._merge(CompanyCandidate(id) for id in self.name_scores)
        if matches:
            self._context.note(before=before, after=len(self.pool))

    async def by_tags(self) -> None:
        """Find companies with the tags of the plan or of the question."""
        sectors, categories, models = tags_of(self._asked, self._plan)
        if "taxonomy" not in self._plan.output.search_priority_order or not (sectors or categories or models):
            return
        if not self._context.may_call():
            self.is_cut_short = True
            return
        with self._context.run.step("search_companies_by_taxonomy_v1") as record:
            self._context.run.budget.spend_call()
            found = await find_by_taxonomy(
                self._database,
                sectors,
                categories,
                models,
                self._context.settings.company_taxonomy_max,
                filter=self.scope.filter,
            )
            allowed = None if self._only is None else set(self._only)
            self._add([each for each in found if allowed is None or each.company_id in allowed], record)

    def _add(self, found: Sequence[CompanyCandidate], record: StepRecord, **counts: int) -> None:
        """Merge candidates into the pool, and record the counts."""
        before = len(self.pool)
        self._merge(found)
        record.counts.update({"found": len(found)} | counts | {"before": before, "after": len(self.pool)})

    def _merge(self, found: Iterable[CompanyCandidate]) -> None:
        self.pool = {candidate.company_id: candidate for candidate in merge([*self.pool.values(), *found])}


def tags_of(inquiry: CompanyInquiry, plan: Plan) -> tuple[list[str], list[str], list[str]]:
    """The sectors, categories and business models to look for: the seed's, or those of the plan and the question."""
    if inquiry.seed is not None:
        return [], list(inquiry.seed.categories), []
    filters = plan.output.filters
    named = {
        facet: [value for group in inquiry.intent.tags for value in sorted(group.values(facet))] for facet in TAG_FACETS
    }
    return (
        list(dict.fromkeys([*filters.sectors, *named["sector"]])),
        list(dict.fromkeys([*filters.categories, *named["category"]])),
        list(dict.fromkeys([*filters.business_models, *named["business_model"]])),
    )
