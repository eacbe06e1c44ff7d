"""What a model that answers about companies works with: the search with structured arguments, which agents call too, the toolset,
and its answer in progress.

The arguments of the search are the plan of its first round. It finds companies for a need, and never counts.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from quarry.agent.domain_tools import TEXT_CHARACTERS_MAX, AgentTool, bounded
from quarry.agent.service import with_known_values
from quarry.agent.sources import DataAccess, data_access
from quarry.answering.answer import AnswerEvent
from quarry.answering.chat import ChatAnswer
from quarry.answering.loop import Tool, ToolFinished, ToolResult, ToolStarted
from quarry.answering.toolset import Toolset
from quarry.companies.answer import (
    COUNT_COMPANIES_MAX,
    DescribedCompany,
    conclude,
    dropped_conditions,
    evidence,
    over_companies,
    reference,
    uncovered_words,
    whole_answer,
)
from quarry.companies.contract import (
    MESSAGES_MAX,
    Activity,
    ActivityEvent,
    ActivityStatus,
    ChatRequest,
    Company,
    EndReason,
    FinalAnswer,
    Reference,
)
from quarry.companies.prompts import VARIANTS_PLANNED_MAX, CompanyPlan, PlanFilters
from quarry.companies.ranking import REASON_CHARACTERS_MAX
from quarry.companies.reading import read_intent, understood_of
from quarry.companies.retrieval import (
    Context,
    Timeline,
    companies_by_ids,
    count_meeting,
    look_up,
    match_names,
    stored_vectors,
)
from quarry.companies.rounds import DEFAULT_SEARCHES, budget_of, plan_in_words, rounds, seed_variants
from quarry.companies.sources import COMPANIES, SEARCHED, met
from quarry.companies.state import (
    COUNT_MAX,
    CompanyIntent,
    CompanyQuestion,
    NameMatch,
    Plan,
    State,
    assumed,
    home,
    inline_description,
    quantity,
)
from quarry.companies.tables import TAG_FACETS, Status
from quarry.language.messages import gettext, ngettext
from quarry.language.word_forms import keys
from quarry.platform.contract import LazyModel, Request
from quarry.platform.errors import FieldError, InvalidInput
from quarry.platform.off_loop import off_loop
from quarry.platform.text import (
    CleanText,
    Identifier,
    QueryText,
    fence,
    left_out,
    shorten,
    significant_words,
)
from quarry.query.contract import QueryResult
from quarry.runs.run_log import ResultRecord
from quarry.schema.algebra import Comparison, Condition, OneOrMany, Query
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event
from quarry.verification.check import Verification, level
from quarry.verification.wire import SourceText, confidence_of

EXCLUDED_IDS_MAX = 80
REQUIRED_WORDS_MAX = 6
SIMILAR_NAMES_MAX = 3
"""How many similar names an error gives."""


class FindCompaniesArguments(Request):
    """Arguments of `find_companies`."""

    need: QueryText = Field(description="In the user's words.")
    variants: Annotated[tuple[CleanText, ...], OneOrMany] = Field(
        default=(), max_length=VARIANTS_PLANNED_MAX, description="Other phrasings, as a profile puts it."
    )
    # described by `query` already
    where: Annotated[
        tuple[Condition, ...], OneOrMany, WithJsonSchema({"type": "array", "items": {"type": "object"}})
    ] = Field(default=(), description="As in `query`; startups unless one is on status.")
    must: Annotated[tuple[CleanText, ...], OneOrMany] = Field(
        default=(), max_length=REQUIRED_WORDS_MAX, description="Words that each profile must hold."
    )
    like: CleanText | None = Field(default=None, description="A company to resemble, by name.")
    not_ids: Annotated[tuple[Identifier, ...], OneOrMany] = Field(
        default=(), max_length=EXCLUDED_IDS_MAX, description="Leave these out."
    )
    limit: int = Field(default=8, ge=1, le=COUNT_MAX, description="At most.")


@dataclass(frozen=True)
class SearchResult:
    """The result of a search. `fits` are the companies that fit, best first, and `near` others with what each misses.

    `meeting` is how many companies meet the conditions, if there are any; `assumed` are conditions that nobody stated,
    `uncovered` the words of the need that no company has, `unasked` the words of the question that the arguments leave out.
    `remarks` say what the search could not do.
    """

    state: State
    fits: Sequence[Reference]
    near: Sequence[tuple[Company, Sequence[str]]]
    meeting: int | None
    assumed: Sequence[str]
    uncovered: Sequence[str]
    unasked: Sequence[str]
    remarks: Sequence[str]

    def as_json(self) -> dict[str, Any]:
        """The result for a model or an agent."""
        companies = self.state.companies
        return {
            "fits": [company_json(each, companies[each.company_id]) for each in self.fits],
            "near": [
                {"id": company.id, "name": company.company_name, "misses": list(misses)}
                for company, misses in self.near
            ],
            "meeting": self.meeting,
            "assumed": list(self.assumed),
            "uncovered": list(self.uncovered),
            "unasked": list(self.unasked),
            "remarks": list(self.remarks),
        }


async def find_companies(
    arguments: FindCompaniesArguments, context: Context, timeline: Timeline
) -> AsyncGenerator[Event | SearchResult]:
    """The events of the rounds, and last the result. Raises InvalidInput for conditions, values and names that the data lacks,
    with the nearest, and DatabaseUnavailable.
    """
    refusal: InvalidInput | None = None
    with timeline.step(f"plan_{context.run.iterations + 1}", gettext("Planning the search")) as step:
        yield step.event
        try:
            state = await _planned(arguments, context)
            step.detail = plan_in_words(state)
        except InvalidInput as error:
            refusal, step.detail = error, "refused"
    yield step.event
    if refusal is not None:
        raise refusal
    async with aclosing(rounds(context, timeline, state)) as events:
        async for event in events:
            yield event
    await conclude(context, state)
    yield await _result(arguments, context, state)


async def _planned(arguments: FindCompaniesArguments, context: Context) -> State:
    """The state with the plan of the first round."""
    state = State(await _question(arguments, context))
    tags: dict[str, list[str]] = {field: [] for field in TAG_FACETS}
    for each in state.intent.stated:
        if isinstance(each, Comparison) and each.field in tags and each.op == "=":
            tags[each.field] += map(str, each.scalars)
    seed = state.question.seed
    variants = [*arguments.variants, *((seed_variants(seed) if seed else []) or [arguments.need])]
    output = CompanyPlan(
        intent="discover",
        target_result_count=arguments.limit,
        query_variants=variants,
        search_priority_order=list(DEFAULT_SEARCHES),
        filters=PlanFilters(
            sectors=tags["sector"], categories=tags["category"], business_models=tags["business_model"],
            niches=list(arguments.must),
        ),
        success_criteria=arguments.need,
    )  # fmt: skip
    state.plan = Plan(output)
    state.queue(variants, context.settings.company_variants_held)
    return state


async def _question(arguments: FindCompaniesArguments, context: Context) -> CompanyQuestion:
    """The question: conditions with values as the data spells them, and the company that others should resemble."""
    query = Query(source=COMPANIES.name, where=tuple(arguments.where))
    await off_loop(met, query.where)  # refuses unknown fields
    access = DataAccess(SEARCHED, context.caller, {}, {})
    stated = (await with_known_values(query, access, context.services.reader)).where
    intent = CompanyIntent(
        stated=stated,
        assumed=assumed(stated),
        topic=arguments.need,
        words=tuple(significant_words(arguments.need)),
        count=arguments.limit,
    )
    if context.run.chat is None:
        # the ranking by rule knows the need by its tags
        need = await read_intent(arguments.need, (), context.caller, context.services)
        intent = replace(intent, tags=need.tags, is_plain=need.is_plain)
    question = CompanyQuestion(
        intent, has_fixed_conditions=True, excluded_ids=frozenset(arguments.not_ids), required_words=arguments.must
    )
    return question if arguments.like is None else await _like(arguments.like, question, context)


async def _like(name: str, question: CompanyQuestion, context: Context) -> CompanyQuestion:
    matches = await match_names(context, [name])
    if not matches or matches[0].name_score < context.settings.company_seed_name_min:
        near = " or ".join(repr(each.company_name) for each in matches[:SIMILAR_NAMES_MAX])
        message = f"no company here is called {name!r}" + (f"; did you mean {near}?" if near else "")
        raise InvalidInput([FieldError("/like", message)])
    id = matches[0].company_id
    companies = await look_up(context, [id], {})
    vectors = await stored_vectors(context.services.reader, id)
    return replace(question, likened=name, seed=companies[id], seed_vectors=vectors, companies=companies)


async def _result(arguments: FindCompaniesArguments, context: Context, state: State) -> SearchResult:
    intent, references = state.intent, [reference(state, each) for each in state.selection]
    near: list[tuple[Company, Sequence[str]]] = [(each.company, each.unmet) for each in state.near_misses]
    if state.is_near:
        # nothing fits for sure
        near = [(state.companies[each.company_id], each.misses) for each in references] + near
    meeting = await count_meeting(context.services.reader, intent.conditions) if intent.stated else None
    comparisons = (each for each in intent.assumed if isinstance(each, Comparison))
    arguments_text = json.dumps(arguments.as_asked(), ensure_ascii=False)
    return SearchResult(
        state,
        fits=[] if state.is_near else references,
        near=near,
        meeting=meeting,
        assumed=[f"{each.field}: {' or '.join(map(str, each.scalars))}" for each in comparisons],
        uncovered=uncovered_words(state) if state.selection else state.absent_words,
        unasked=await off_loop(left_out, context.request.question, arguments_text),
        remarks=[
            *dropped_conditions(state),
            *([gettext("the search was cut short by its limits")] if state.is_cut_short else []),
        ],
    )


# ---- the tool ----

_FIELDS = ("tagline", "status", "website_url", "hq_city", "hq_country", "founded_year", "funding_stage", "sectors")
"""The fields of a company in a result."""


class FoundCompany(LazyModel):
    """A company, the reason why it fits, and the confidence in that (0 to 1)."""

    id: str
    name: str
    reason: str
    evidence: list[str]
    confidence: float
    meets: list[str] = []
    misses: list[str] = []
    description: str
    tagline: str | None = None
    status: Status
    website_url: str | None = None
    hq_city: str | None = None
    hq_country: str | None = None
    founded_year: int | None = None
    funding_stage: str | None = None
    sectors: list[str]


class NearCompany(LazyModel):
    """A company that does not fit, and what it misses."""

    id: str
    name: str
    misses: list[str]


class FoundForNeed(LazyModel):
    """The companies that fit, best first, and those that are only near. `meeting`: how many meet the conditions. `assumed`: what
    nobody stated. `uncovered`: words of the need that no profile has. `unasked`: words of the question that this search left out.
    """

    fits: list[FoundCompany]
    near: list[NearCompany] = []
    meeting: int | None = None
    assumed: list[str] = []
    uncovered: list[str] = []
    unasked: list[str] = []
    remarks: list[str] = []


async def _find(arguments: FindCompaniesArguments, caller: Caller, services: Services) -> dict[str, Any]:
    request = ChatRequest.model_validate({"messages": [{"role": "user", "content": arguments.need}]})
    settings = await services.tuned_settings()
    with services.run("companies", caller, arguments.need, arguments.as_asked(), budget_of(settings)) as run:
        context = Context(request, caller, services, run, settings)
        events = find_companies(arguments, context, Timeline(run))
        [result] = [each async for each in events if isinstance(each, SearchResult)]
        run.results = [ResultRecord("company", each.company_id, each.confidence) for each in result.fits]
        run.end_reason = result.state.end_reason
    return result.as_json()


def company_json(reference: Reference, company: Company) -> dict[str, Any]:
    """A company of a result for a model or an agent, as FoundCompany describes it."""
    fields = company.model_dump(mode="json", include=set(_FIELDS), exclude_none=True)
    return {
        "id": reference.company_id,
        "name": reference.company_name,
        "reason": reference.reason,
        "evidence": reference.evidence_chips,
        "confidence": reference.confidence,
        "meets": reference.meets,
        "misses": reference.misses,
        "description": shorten(company.description or "", TEXT_CHARACTERS_MAX),
    } | fields


FIND_COMPANIES = AgentTool(
    "find_companies",
    "Find companies",
    "Companies for a need, a wide field, or like another: those that fit, with reasons, and near ones with what they miss. Never "
    "counts: for numbers and facts use `query`.",
    FindCompaniesArguments,
    FoundForNeed,
    _find,
    route_class="model",
)


# ---- the tools of a model that answers ----

RESULT_CHARACTERS_MAX = 12_000
"""Characters of a search's result that the model gets."""


@dataclass(kw_only=True)
class CompanyToolset(Toolset):
    """The general tools over companies, and the search for a need, whose results are in `searches`."""

    context: Context
    timeline: Timeline
    searches: list[SearchResult] = field(default_factory=list)
    _one_by_one: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Searches that a model calls at once run one after the other: they share the limits and the log of the run."""

    @property
    def has_found(self) -> bool:
        return bool(self.searches) or super().has_found

    def tools(self) -> list[Tool]:
        find = Tool(FIND_COMPANIES.name, FIND_COMPANIES.description, FIND_COMPANIES.arguments, self._find)
        return [find, *super().tools()]

    async def _run(self, query: Query) -> QueryResult:
        if query.select and "id" not in query.select:
            # the answer shows the companies of its rows by their ids
            query = query.model_copy(update={"select": (*query.select, "id")})
        return await super()._run(query)

    async def _find(self, arguments: FindCompaniesArguments) -> AsyncGenerator[Event | ToolResult]:
        async with self._one_by_one, aclosing(find_companies(arguments, self.context, self.timeline)) as events:
            async for event in events:
                if not isinstance(event, SearchResult):
                    yield event
                    continue
                self.searches.append(event)
                text = json.dumps(bounded(event.as_json(), RESULT_CHARACTERS_MAX), ensure_ascii=False)
                summary = ngettext("{number} company fits", "{number} companies fit", len(event.fits))
                # texts of companies are data
                yield ToolResult(len(event.fits), summary, fence(text))


async def toolset_of(context: Context, timeline: Timeline) -> CompanyToolset:
    """The tools for one answer."""
    access = await data_access(context.caller, context.services)
    name = access.name_of(COMPANIES.name, COMPANIES.name)
    return CompanyToolset(
        services=context.services,
        caller=context.caller,
        run=context.run,
        access=access,
        today=access.today,
        names=[name] if name is not None else [],
        context=context,
        timeline=timeline,
    )


# ---- the answer of the model ----

MENTIONS_MAX = 5
"""How many companies that the question may name the model is told."""


@dataclass
class ModelAnswer(ChatAnswer[CompanyToolset]):
    """The answer of a model, in progress. `matches` are the companies whose names the question may hold."""

    step = "companies_answer"
    max_turns = 6
    history_max = MESSAGES_MAX
    about = "a directory of companies"
    notes = """Here find_companies is for companies for a need, a wide field, or like another company; state each condition in its
`where`, and let its `meeting`, `uncovered` and `unasked` tell you whether one was forgotten. It never counts. It assumes startups
unless `where` says a status: then say so. `near` companies miss what is said of them: they are no answer."""
    cite = "Give the name of each company that you speak of as it is spelt; no citation numbers."

    context: Context
    matches: Sequence[NameMatch]

    async def card(self) -> str:
        return await self.toolset.card(self.question) or "There are no companies."

    @property
    def leads(self) -> str:
        """The companies whose names the question may hold, and those shown before."""
        least, ids = self.context.settings.company_seed_name_min, self.context.request.previous_candidate_ids
        lines = [
            f"{match.spelling!r} is the name of {match.company_name} (id {match.company_id}, {match.status})"
            for match in self.matches[:MENTIONS_MAX]
            if match.name_score >= least
        ]
        return "\n".join([*lines, *([f"Shown before, best first: {', '.join(ids)}"] if ids else [])])

    def texts(self) -> Iterable[object]:
        searches, hits = self.toolset.searches, self.toolset.hits
        yield from (each.state.companies[fit.company_id].model_dump() for each in searches for fit in each.fits)
        yield from (text for hit in hits for text in (hit.text, hit.url or ""))

    def sources(self) -> Sequence[SourceText]:
        profiles: list[DescribedCompany] = []
        facts: list[str] = []
        for each in self.toolset.searches:
            companies = each.state.companies
            profiles += [(companies[fit.company_id], [fit.reason, *fit.evidence_chips]) for fit in each.fits]
            profiles += [(company, [f"It misses {'; '.join(misses)}"]) for company, misses in each.near]
            facts += [quantity(len(each.fits), "company fits", "companies fit"), *each.assumed, *each.remarks]
            facts += [f"{each.meeting} meet the conditions"] if each.meeting is not None else []
        sources = evidence(profiles, facts)
        hits = enumerate(self.toolset.hits, start=len(sources) + 1)
        return [*sources, *(SourceText(n, hit.title, hit.text) for n, hit in hits)]

    def event(self, happened: AnswerEvent) -> Event | None:
        match happened:
            case ToolStarted(_, tool) | ToolFinished(_, tool) if tool == FIND_COMPANIES.name:
                return None  # its steps are activities
            case ToolStarted(id, tool):
                return _activity(id, tool, "running")
            case ToolFinished(id, tool, result):
                return _activity(id, tool, "completed", result.summary)
        return super().event(happened)

    @property
    def result(self) -> QueryResult | None:
        """The result of a query that the answer rests on: the one that it names, else the last if there was no search."""
        results, place = self.toolset.results, self.answer.form.main_result
        if place is not None and 1 <= place <= len(results):
            return results[place - 1]
        return results[-1] if results and not self.toolset.searches else None

    async def final_answer(self, content: str, checked: Verification) -> FinalAnswer:
        """The whole answer: its text, and the companies that it speaks of, else those of the last search."""
        toolset, context, result = self.toolset, self.context, self.result
        row_ids = [] if result is None else _ids(result)
        other_ids = [id for each in toolset.results if each is not result for id in _ids(each)]
        near_ids = [company.id for each in toolset.searches for company, _ in each.near]
        ids = list(dict.fromkeys([*row_ids, *other_ids, *(hit.id for hit in toolset.hits), *near_ids]))
        companies = {id: company for each in toolset.searches for id, company in each.state.companies.items()}
        missing = [id for id in ids if id not in companies]
        companies |= {each.id: each for each in await companies_by_ids(context.services.reader, missing)}
        references: dict[str, Reference] = {}
        for fit in (fit for each in reversed(toolset.searches) for fit in each.fits):
            references.setdefault(fit.company_id, fit)
        others = [
            _reference(companies[id], result if id in row_ids else None)
            for id in ids
            if id in companies and id not in references
        ]
        mentioned = await off_loop(_mentioned, content, [*references.values(), *others])
        last = toolset.searches[-1].state if toolset.searches else None
        if not mentioned and last is not None and result is None:
            mentioned = list(toolset.searches[-1].fits)
        intent = last.intent if last is not None else CompanyIntent()
        understood = await off_loop(
            understood_of,
            CompanyIntent() if result else intent,
            over_companies(result.query) if result else None,
        )
        basis = level(checked, is_talk=self.answer.form.rests_on_nothing)
        return whole_answer(
            context,
            content,
            mentioned,
            companies,
            understood,
            self._end_reason(),
            checked,
            confidence_of(basis),
            result=result,
            rounds=context.run.iterations,
        )

    def _end_reason(self) -> EndReason:
        if self.toolset.searches:
            return self.toolset.searches[-1].state.end_reason or "converged"
        return "exact_match" if self.toolset.results or self.toolset.hits else "converged"


def _activity(id: str, tool: str, status: ActivityStatus, detail: str | None = None) -> ActivityEvent:
    """A call of a general tool as a step."""
    label = tool.replace("_", " ").capitalize()
    return ActivityEvent(data=Activity(id=f"{tool}_{id}", label=label, status=status, detail=detail))


def _ids(result: QueryResult) -> list[str]:
    """The companies in the rows of a result."""
    names = [column.name for column in result.columns]
    if not result.query.asks_for_rows or "id" not in names:
        return []
    return [str(row[names.index("id")]) for row in result.rows[:COUNT_COMPANIES_MAX]]


def _reference(company: Company, result: QueryResult | None) -> Reference:
    """A company of an answer that no search ranked; `result` is that of the query that it rests on, if it is among its rows."""
    line = inline_description(company)
    return Reference(
        company_id=company.id,
        company_name=company.company_name,
        reason=(shorten(result.sentence, REASON_CHARACTERS_MAX) if result is not None else "") or line,
        inline_description=line,
        evidence_chips=[chip for chip in (company.status.capitalize(), home(company)) if chip],
        confidence=1.0,
    )


def _mentioned(content: str, references: Sequence[Reference]) -> list[Reference]:
    """The companies whose names the text contains."""
    text = f" {' '.join(keys(content))} "
    return [each for each in references if f" {' '.join(keys(each.company_name))} " in text]
