"""Reads companies from Postgres, and finds the candidates of a round by its phrasings, by name, and by tags."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, contextmanager
from dataclasses import dataclass

from psycopg.sql import SQL, Literal
from psycopg.sql import Identifier as SqlIdentifier

from quarry.companies.contract import Activity, ActivityEvent, ActivityStatus, ChatRequest, Company
from quarry.companies.reading import NAME_WORDS_MAX, NAMES_MAX
from quarry.companies.sources import COMPANIES, met
from quarry.companies.state import (
    CompaniesInScope,
    CompanyCandidate,
    NameMatch,
    Source,
    State,
    Variant,
    distinct,
    merge,
)
from quarry.companies.tables import STATUSES, TAG_FACETS
from quarry.language.messages import gettext, gettext_noop, ngettext
from quarry.platform.budget import in_time
from quarry.platform.errors import DatabaseUnavailable, ModelError, NotFound
from quarry.platform.off_loop import off_loop
from quarry.platform.settings import Settings
from quarry.postgres.pool import Database, half_vectors
from quarry.runs.run_log import Run, StepRecord
from quarry.schema.algebra import Comparison, Condition
from quarry.services.services import Caller, Services

PROMPT_TAGS_MAX, PROMPT_NICHES_MAX = 300, 40
"""How many tags of each kind, and how many niches, the model is given."""
LATEST_MAX = 10_000
"""How many of the newest companies are tested for conditions that no index serves."""
TESTED_ROWS_MAX = 25_000
"""How many companies are tested for what is ruled out."""
SAMPLE_MAX = 10_000
"""The size of the sample by which the number of matches is estimated."""


_COMPANY_COLUMNS = SQL(", ").join(SqlIdentifier(name) for name in Company.model_fields)


@dataclass(frozen=True)
class Context:
    """What stays the same during a search: request, services, run, and the settings as tuned by `quarry tune`."""

    request: ChatRequest
    caller: Caller
    services: Services
    run: Run
    settings: Settings

    @property
    def is_out_of_tokens(self) -> bool:
        """Whether the token budget is spent."""
        return self.run.chat is not None and self.run.budget.tokens >= self.run.budget.max_tokens

    def seconds_for_looking(self, has_ranked: bool) -> float:
        """Seconds left for look-ups. Until something was ranked, the time reserved for the answer counts too."""
        budget = self.run.budget
        return budget.seconds_for_work if has_ranked else budget.seconds_left

    def in_time(self) -> AbstractAsyncContextManager[None]:
        """A block that raises TimeIsUp when the time of the search is up. A running statement may take its own timeout more."""
        return in_time(self.run.budget.seconds_left + self.services.settings.database_timeout_seconds)

    def may_call(self, calls: int = 1, *, has_ranked: bool = False) -> bool:
        """Whether the budget allows so many more look-ups. One is reserved for reading the companies found."""
        return self.run.budget.calls_left > calls and self.seconds_for_looking(has_ranked) > 0

    def is_late(self, has_ranked: bool) -> bool:
        """Whether the search must end with what was ranked so far."""
        return has_ranked and (self.seconds_for_looking(has_ranked) <= 0 or self.is_out_of_tokens)

    def note(self, **counts: int) -> None:
        """Add counts to the last step of the run log."""
        self.run.steps[-1].counts.update(counts)


class ShownStep:
    """One step. `detail` is its result in a line."""

    def __init__(self, id: str, label: str, run: Run) -> None:
        self._id, self._label, self._run = id, label, run
        self._started_ms = run.elapsed_ms()
        self._first_record = len(run.steps)
        self.detail: str | None = None
        self.status: ActivityStatus = "running"

    @property
    def event(self) -> ActivityEvent:
        """The step in its present state."""
        over = self.status != "running"
        return ActivityEvent(
            data=Activity(
                id=self._id,
                label=self._label,
                status=self.status,
                detail=self.detail if over else None,
                duration_ms=round(self._run.elapsed_ms() - self._started_ms, 1) if over else None,
            )
        )

    def end(self) -> None:
        """End the step: as failed if a part of it failed or needed a fallback."""
        records = self._run.steps[self._first_record :]
        self.status = "failed" if any(record.status != "completed" for record in records) else "completed"


class Timeline:
    """The steps of one search."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._current: ShownStep | None = None

    @contextmanager
    def step(self, id: str, label: str) -> Iterator[ShownStep]:
        """A step that ends with the block. `id` identifies its events within the search."""
        self._current = ShownStep(id, label, self._run)
        yield self._current
        self._current.end()

    def broken_off(self) -> ActivityEvent | None:
        """The step that an error interrupted, as failed; None if no step was running."""
        step = self._current
        if step is None or step.status != "running":
            return None
        step.status = "failed"
        return step.event


_NAME_COLUMNS = ("company_id", "company_name", "name_score", "matched", "status")


async def find_names(database: Database, names: Sequence[str], settings: Settings) -> list[NameMatch]:
    """The companies with one of `names`, or a name at least as similar as `company_name_similarity_min`: each company once, with
    its best match, best first. Few for each name, in one round trip.
    """
    if not names:
        return []
    rows = await database.call(
        "search_exact_names",
        p_names=list(names),
        p_statuses=list(STATUSES),
        p_min_similarity=settings.company_name_similarity_min,
    )
    return [NameMatch(**{name: row[name] for name in _NAME_COLUMNS}, spelling=row["asked"]) for row in rows]


async def retrieve_variants(
    database: Database,
    variants: Sequence[Variant],
    settings: Settings,
    *,
    include_ids: Sequence[str] | None = None,
    exclude_ids: Sequence[str] = (),
    hybrid: bool = True,
    keyword: bool = True,
    limit: int = 120,
    min_semantic: float | None = None,
    filter: str | None = None,
    fitting: Sequence[str] | None = None,
    fits_many: bool = False,
) -> list[CompanyCandidate]:
    """The `limit` best companies for each variant by hybrid and keyword search, merged, best first; one round trip. `settings`
    has the weights, and the least cosine similarity of hybrid search, unless `min_semantic` is given.

    Only companies in `include_ids` (if given), not in `exclude_ids`, that meet `filter` (see `row_filter`). `fitting` are the ids
    that meet it, if known, up to one more than `compared_max`; `fits_many`: they are unknown, but more than that.
    """
    if not variants or not (hybrid or keyword):
        return []
    rows = await database.call(
        "search_company_variants",
        p_texts=[variant.text for variant in variants],
        p_embeddings=half_vectors([variant.vector for variant in variants]),
        p_statuses=None,
        p_include_ids=None if include_ids is None else list(include_ids),
        p_exclude_ids=list(exclude_ids),
        p_hybrid=hybrid,
        p_keyword=keyword,
        p_limit=limit,
        p_min_semantic=settings.company_semantic_min if min_semantic is None else min_semantic,
        p_hybrid_weights=[
            settings.company_semantic_weight,
            settings.company_keyword_weight,
            settings.company_niche_weight,
        ],
        p_keyword_weights=[settings.company_keyword_only_weight, settings.company_niche_only_weight],
        p_filter=filter,
        p_fitting=None if fitting is None else list(fitting),
        p_fits_many=fits_many,
    )
    scores = ("semantic", "keyword", "niche", "combined")
    return [
        CompanyCandidate(row["company_id"], **{name: row[name] for name in scores}, sources=tuple(row["found_by"]))
        for row in rows
    ]


async def count_meeting(database: Database, conditions: Sequence[Condition]) -> int:
    """How many companies meet all conditions."""
    row = await database.row(SQL("select count(*) as found from companies t where {}").format(met(conditions)))
    return int(row["found"]) if row else 0


def compared_max(limit: int) -> int:
    """Up to so many companies are compared exactly with a phrasing for `limit` results (`max_few` in vector_candidates)."""
    return max(2000, 80 * limit)


async def find_by_taxonomy(
    database: Database, tags: Mapping[str, Sequence[str]], limit: int, *, filter: str | None = None
) -> list[CompanyCandidate]:
    """The companies with most of the given tags, by field, then by name; `taxonomy` is the share of the tags."""
    rows = await database.call(
        "search_companies_by_taxonomy_v1",
        p_sectors=tags.get("sector", []),
        p_categories=tags.get("category", []),
        p_business_models=tags.get("business_model", []),
        p_statuses=None,
        p_limit=limit,
        p_filter=filter,
    )
    number = sum(map(len, tags.values()))
    return [
        CompanyCandidate(row["company_id"], taxonomy=row["tag_score"] / number, sources=("taxonomy",)) for row in rows
    ]


def row_filter(conditions: Sequence[Condition], excluded: Sequence[str] = ()) -> str:
    """The SQL condition that a row `t` of companies meets all conditions and contains none of the `excluded` words."""
    condition = met(conditions)
    if excluded:
        lexemes = SQL(" || ").join(SQL("phraseto_tsquery('english', {})").format(Literal(each)) for each in excluded)
        condition += SQL(" and not (t.text_search @@ ({0}) or t.niches_search @@ ({0}))").format(lexemes)
    return condition.as_string(None)  # each value quoted


async def fitting_ids(database: Database, filter: str, limit: int) -> list[str]:
    """The ids of at most `limit` companies that meet `filter`, in no order."""
    rows = await database.rows(
        SQL("select t.id from companies t where ") + SQL(filter) + SQL(" limit {}").format(Literal(limit))
    )
    return [row["id"] for row in rows]


async def are_expected(database: Database, filter: str, number: int) -> bool:
    """Whether more than `number` companies probably meet `filter`, by a sample of `SAMPLE_MAX`; false for smaller tables."""
    row = await database.row(
        SQL(
            "select count(*) = {most} and count(*) filter (where {met}) * c.rows / {most} > {number} as are_expected"
            " from (select * from companies limit {most}) t,"
            " (select reltuples as rows from pg_class where oid = 'companies'::regclass) c group by c.rows"
        ).format(met=SQL("({})").format(SQL(filter)), number=Literal(number), most=Literal(SAMPLE_MAX))
    )
    return bool(row and row["are_expected"])


async def few_fitting_ids(
    database: Database, conditions: Sequence[Condition], filter: str, limit: int, *, latest: bool
) -> tuple[list[str], bool]:
    """The ids of at most `limit` companies that meet `filter`, of which `conditions` are a part, and whether there may be more:
    only `TESTED_ROWS_MAX` rows are tested for negated conditions. With `latest`, the newest first, and `LATEST_MAX` rows.
    """
    affirmed = [each for each in conditions if not isinstance(each, Comparison) or each.op != "!="]
    rows = await database.rows(
        SQL(
            "select case when l.place <= {most} then l.id end as id"
            " from (select t.id, row_number() over () as place, {met} as is_met from ("
            "  select t.* from companies t where {affirmed} {order} limit {most} + 1) t) l"
            " where l.is_met or l.place > {most} limit {limit}"
        ).format(
            most=Literal(LATEST_MAX if latest else TESTED_ROWS_MAX),
            order=SQL("order by t.founded_year desc nulls last, t.id" if latest else ""),
            met=SQL("({})").format(SQL(filter)),
            affirmed=SQL(row_filter(affirmed)),
            limit=Literal(limit),
        )
    )
    ids = [row["id"] for row in rows if row["id"] is not None]
    return ids, len(ids) < len(rows)


async def taxonomy(database: Database) -> dict[str, list[str]]:
    """The tags of companies by the plural of their kind, most frequent first, up to a limit for each kind."""
    bounds = {facet: PROMPT_NICHES_MAX if facet == "niche" else PROMPT_TAGS_MAX for facet in TAG_FACETS}
    rows = await database.rows(
        SQL(
            "select f.facet, array(select v.value from facet_values v where v.table_name = %s and v.facet = f.facet"
            " and v.scope = '' order by v.row_count desc, v.value limit f.most) as values"
            " from unnest(%s::text[], %s::int[]) f (facet, most)"
        ),
        [COMPANIES.name, list(bounds), list(bounds.values())],
    )
    return {COMPANIES.facets[row["facet"]].plural: row["values"] for row in rows}


async def unspoken(database: Database, words: Sequence[str]) -> list[str]:
    """The words that no company's profile contains."""
    if not words:
        return []
    [row] = await database.call("unspoken_words", p_words=list(words))
    return list(row["unspoken_words"])


async def stored_vectors(database: Database, id: str) -> list[list[float]]:
    """The vectors of a company's profile; none if it is not embedded."""
    rows = await database.rows(
        "select embedding from company_embeddings where record_id = %s and embedding_type = 'searchable_profile'", [id]
    )
    return [row["embedding"].to_list() for row in rows]


async def companies_by_ids(database: Database, ids: Sequence[str]) -> list[Company]:
    """The companies of these ids in this order, each once; unknown ids are left out."""
    if not ids:
        return []
    rows = await database.rows(SQL("select {} from get_companies_by_ids_v1(%s)").format(_COMPANY_COLUMNS), [list(ids)])
    return [Company.model_validate(row) for row in rows]


async def company_by_id(database: Database, id: str) -> Company:
    """One company. Raises NotFound."""
    for company in await companies_by_ids(database, [id]):
        return company
    raise NotFound(gettext_noop("There is no company with this id."))


async def match_names(context: Context, names: Sequence[str]) -> list[NameMatch]:
    """The companies with one of these names or a similar one, best first."""
    if not names:
        return []
    with context.run.step("search_exact_name_v1") as record:
        context.run.budget.spend_call()
        matches = await find_names(context.services.reader, names, context.settings)
        record.counts.update(names=len(names), found=len(matches))
    return matches


async def look_up(context: Context, ids: Sequence[str], companies: Mapping[str, Company]) -> dict[str, Company]:
    """The known companies, and those of the other ids, read in full."""
    missing = [id for id in ids if id not in companies]
    if not missing:
        return dict(companies)
    with context.run.step("get_companies_by_ids_v1") as record:
        context.run.budget.spend_call()
        rows = await companies_by_ids(context.services.reader, missing)
        record.counts.update(ids=len(missing), rows=len(rows))
    return {**companies, **{company.id: company for company in rows}}


# ---- the candidates of one round ----

SEED_VECTORS_MAX = 4
"""How many passages of a seed company are compared with others."""
LISTED_MAX = 2000
"""Up to so many companies that meet the conditions are searched by their ids."""


async def retrieve(context: Context, state: State) -> str:
    """Search for the pending phrasings, and once for each plan by name and by tags, among the companies that meet the conditions.

    If one search fails, the others continue. Raises DatabaseUnavailable if nothing was found then.
    """
    before = len(state.pool)
    await _set_scope(state)
    search = _CandidateSearch(context, state)
    await search.close_in()
    is_new, variants = state.is_new, state.take(context.settings.company_variants_executed)
    searches: list[Callable[[], Awaitable[None]]] = [lambda: search.by_variants(variants)] if variants else []
    if is_new:
        searches += [search.by_name, search.by_tags]
    failure: DatabaseUnavailable | None = None
    for find in searches:
        try:
            await find()
        except DatabaseUnavailable as error:
            state.is_cut_short, failure = True, error
    if failure is not None:
        if not state.pool:
            raise failure
        context.run.degrade("company_search")
    size = len(state.pool)
    companies = ngettext("{number} company", "{number} companies", size)
    return gettext("{companies}, {number} of them new", companies=companies, number=size - before)


async def _set_scope(state: State) -> None:
    """Set the companies to search, unless those of the previous round meet the same conditions."""
    before, conditions, excluded = state.scope, state.conditions, state.intent.excluded
    in_order = not (state.intent.topic or state.question.seed)
    if before is None or (before.conditions, before.excluded, before.in_order) != (conditions, excluded, in_order):
        state.scope = CompaniesInScope(conditions, excluded, in_order, await off_loop(row_filter, conditions, excluded))


class _CandidateSearch:
    """The searches of one round. They add their candidates to the pool of the state."""

    def __init__(self, context: Context, state: State) -> None:
        assert state.scope is not None
        self._context, self._state, self._scope = context, state, state.scope
        self._database = context.services.reader
        self._order = state.current_plan.search_priority_order
        self._only = self._among = state.only

    @property
    def _is_closed(self) -> bool:
        """Whether so few companies are searched that all of them become candidates."""
        return self._only is not None and len(self._only) <= self._context.settings.company_hydrated_max

    def _may_call(self, calls: int = 1) -> bool:
        """Whether the budget allows so many more calls; if not, the search is cut short."""
        may_call = self._context.may_call(calls)
        self._state.is_cut_short = self._state.is_cut_short or not may_call
        return may_call

    async def close_in(self) -> None:
        """If few companies meet the conditions, make all of them candidates; if nothing else is asked, the newest. If there are
        not too many, search by their ids.
        """
        if self._only is None and self._state.intent.is_stated and self._context.may_call(2):
            most = self._context.settings.company_hydrated_max
            ids = await self._fitting()
            self._state.is_cut_short = self._state.is_cut_short or self._scope.is_cut_short
            if self._scope.are_many:
                return
            if len(ids) <= most or self._scope.in_order:
                self._only = self._among = ids[:most]
            elif len(ids) <= LISTED_MAX:
                self._among = ids
        if self._is_closed:
            self._merge(CompanyCandidate(id) for id in self._only or ())

    async def _fitting(self) -> Sequence[str]:
        """The companies that meet the conditions, up to one more than the limits; none if they `are_many`."""
        scope, settings = self._scope, self._context.settings
        if scope.ids is not None:
            return scope.ids
        with self._context.run.step("companies_by_fields") as record:
            self._context.run.budget.spend_call()
            most = max(LISTED_MAX, compared_max(settings.company_retrieved_max)) + 1
            if scope.in_order:
                most = settings.company_hydrated_max
            if not (scope.in_order or scope.excluded):
                scope.ids = await fitting_ids(self._database, scope.filter, most)
            elif not scope.in_order and await are_expected(self._database, scope.filter, LISTED_MAX):
                # no index finds rows without a word: a walk over the vectors costs less than reading the table
                scope.ids, scope.are_many = (), True
            else:
                scope.ids, scope.is_cut_short = await few_fitting_ids(
                    self._database, scope.conditions, scope.filter, most, latest=scope.in_order
                )
            if not scope.are_many:
                record.counts["found"] = len(scope.ids)
        return scope.ids

    async def by_variants(self, variants: Sequence[str]) -> None:
        """Search all phrasings by words and meaning in one round trip; without vectors, by words alone."""
        state, vectors = self._state, await self._embed(variants)
        state.by_meaning = state.by_meaning or any(vector is not None for vector in vectors or ())
        is_hybrid = "hybrid" in self._order and vectors is not None
        is_keyword = "keyword" in self._order or ("hybrid" in self._order and vectors is None)
        searches: dict[Source, bool] = {"hybrid": is_hybrid, "keyword": is_keyword}
        sources = [source for source, is_used in searches.items() if is_used]
        while sources and not self._may_call(len(sources)):
            sources.pop()
        if sources:
            phrasings = [
                Variant(text, vector) for text, vector in zip(variants, vectors or [None] * len(variants), strict=True)
            ]
            seeds = [Variant("", vector) for vector in state.question.seed_vectors[:SEED_VECTORS_MAX]]
            await self._search(sources, [*phrasings, *(seeds if "hybrid" in sources else ())], len(variants))

    async def _embed(self, variants: Sequence[str]) -> Sequence[list[float] | None] | None:
        """The vectors of the phrasings; None if nothing is embedded, or if the model failed."""
        if "hybrid" not in self._order:
            return None
        run = self._context.run
        with run.step("query_embedding") as record:
            record.counts["variants"] = len(variants)
            try:
                return await self._context.services.queries.embed_all(variants, seconds=run.budget.seconds_for_work)
            except ModelError as error:
                run.degrade("query_embedding", record, error)
                return [None] * len(variants) if self._state.question.seed_vectors else None

    async def _search(self, sources: Sequence[Source], variants: Sequence[Variant], phrasings: int) -> None:
        run, settings, seed = self._context.run, self._context.settings, self._state.question.seed
        with ExitStack() as steps:
            records = {source: steps.enter_context(run.step(f"search_companies_{source}_v1")) for source in sources}
            for _ in sources:
                run.budget.spend_call()
            candidates = await retrieve_variants(
                self._database,
                variants,
                settings,
                include_ids=self._among,
                filter=self._scope.filter,
                fitting=self._scope.ids if self._among is None else None,
                fits_many=self._among is None and self._scope.are_many,
                exclude_ids=[seed.id] if seed else [],
                hybrid="hybrid" in sources,
                keyword="keyword" in sources,
                limit=settings.company_retrieved_max,
                min_semantic=-1.0 if self._is_closed else None,
            )
            for source, record in records.items():
                by_source = [candidate for candidate in candidates if source in candidate.sources]
                self._add(by_source, record, variants=phrasings)

    async def by_name(self) -> None:
        """Find companies by name, if the plan expects a name."""
        state = self._state
        if "exact_name" not in self._order or state.question.seed or not self._may_call():
            return
        variants = [each for each in state.current_plan.query_variants if len(each.split()) <= NAME_WORDS_MAX]
        matches = await match_names(self._context, distinct([*state.question.names, *variants])[:NAMES_MAX])
        for match in matches:
            if self._only is None or match.company_id in self._only:
                score = state.name_scores.get(match.company_id, 0.0)
                state.name_scores[match.company_id] = max(match.name_score, score)
        before = len(state.pool)
        self._merge(CompanyCandidate(id) for id in state.name_scores)
        if matches:
            self._context.note(before=before, after=len(state.pool))

    async def by_tags(self) -> None:
        """Find companies with the tags of the plan or of the question."""
        tags = tags_of(self._state)
        if "taxonomy" not in self._order or not any(tags.values()) or not self._may_call():
            return
        with self._context.run.step("search_companies_by_taxonomy_v1") as record:
            self._context.run.budget.spend_call()
            most = self._context.settings.company_taxonomy_max
            candidates = await find_by_taxonomy(self._database, tags, most, filter=self._scope.filter)
            allowed = None if self._only is None else set(self._only)
            self._add([each for each in candidates if allowed is None or each.company_id in allowed], record)

    def _add(self, candidates: Sequence[CompanyCandidate], record: StepRecord, **counts: int) -> None:
        """Merge candidates into the pool, and record the counts."""
        before = len(self._state.pool)
        self._merge(candidates)
        after = len(self._state.pool)
        record.counts.update({"found": len(candidates)} | counts | {"before": before, "after": after})

    def _merge(self, candidates: Iterable[CompanyCandidate]) -> None:
        merged = merge([*self._state.pool.values(), *candidates])
        self._state.pool = {candidate.company_id: candidate for candidate in merged}


def tags_of(state: State) -> dict[str, list[str]]:
    """The tags to look for, by field: the seed's categories, or those of the plan and the question, each once."""
    if state.question.seed is not None:
        return {"category": list(dict.fromkeys(state.question.seed.categories))}
    filters = state.current_plan.filters
    planned = {"sector": filters.sectors, "category": filters.categories, "business_model": filters.business_models}
    return {
        field: list(
            dict.fromkeys([*tags, *(each for group in state.intent.tags for each in sorted(group.values(field)))])
        )
        for field, tags in planned.items()
    }
