"""The search for companies with structured arguments, as a tool of a model or an agent.

The arguments are the plan of the first round; the rounds are those of `search`. It finds companies for a need, and never counts.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from quarry.agent.domain_tools import TEXT_CHARACTERS_MAX, AgentTool, bounded
from quarry.agent.service import with_known_values
from quarry.agent.sources import DataAccess, data_access
from quarry.answering.loop import Tool, ToolResult
from quarry.answering.toolset import Toolset
from quarry.companies.answer import Result, dropped, reference, uncovered
from quarry.companies.candidates import CompanyInquiry, Plan, Round
from quarry.companies.context import Context, Timeline
from quarry.companies.contract import ChatRequest, Company, Reference
from quarry.companies.facets import COMPANIES, TAG_FACETS
from quarry.companies.fallbacks import seed_variants
from quarry.companies.intent import COUNT_MAX, CompanyIntent, assumed
from quarry.companies.prompts import VARIANTS_PLANNED_MAX, CompanyPlan, PlanFilters
from quarry.companies.reading import read_intent
from quarry.companies.retrieval import count_meeting, look_up, match_names, stored_vectors
from quarry.companies.rounds import DEFAULT_SEARCHES, budget_of, described, rounds
from quarry.companies.sources import SEARCHED, met
from quarry.companies.tables import Status
from quarry.language.messages import gettext, ngettext
from quarry.platform.contract import LazyModel, Request
from quarry.platform.errors import FieldError, InvalidInput
from quarry.platform.off_loop import off_loop
from quarry.platform.text import CleanText, Identifier, QueryText, fence, left_out, shorten, significant_words
from quarry.query.contract import QueryResult
from quarry.runs.run_log import ResultRecord
from quarry.schema.algebra import Comparison, Condition, OneOrMany, Query
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event

LEFT_OUT_MAX = 80
DEMANDED_MAX = 6
NAMED_MAX = 3
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
        default=(), max_length=DEMANDED_MAX, description="Words that each profile must hold."
    )
    like: CleanText | None = Field(default=None, description="A company to resemble, by name.")
    not_ids: Annotated[tuple[Identifier, ...], OneOrMany] = Field(
        default=(), max_length=LEFT_OUT_MAX, description="Leave these out."
    )
    limit: int = Field(default=8, ge=1, le=COUNT_MAX, description="At most.")


@dataclass(frozen=True)
class FoundCompanies:
    """What a search found. `fits` are the companies that fit, best first, and `near` others with what each misses. `meeting` is
    how many companies meet the conditions, if there are any; `assumed` are conditions that nobody stated, `uncovered` the words
    of the need that no company found has, `unasked` the words of the question that the arguments leave out. `remarks` say what
    the search could not do.
    """

    result: Result
    fits: Sequence[Reference]
    near: Sequence[tuple[Company, Sequence[str]]]
    meeting: int | None
    assumed: Sequence[str]
    uncovered: Sequence[str]
    remarks: Sequence[str]
    unasked: Sequence[str] = ()


async def find_companies(
    arguments: FindCompaniesArguments, context: Context, timeline: Timeline
) -> AsyncGenerator[Event | FoundCompanies]:
    """The events of the rounds, and last what was found. Raises InvalidInput for conditions, values and names that the data
    lacks, with the nearest, and DatabaseUnavailable.
    """
    now, refused = Round(CompanyInquiry(CompanyIntent(), ())), None
    with timeline.step(f"plan_{context.run.iterations + 1}", gettext("Planning the search")) as step:
        yield step.event
        try:
            inquiry = await _inquiry(arguments, context)
            plan = _plan(arguments, inquiry, context)
            now, step.detail = Round(inquiry, plan=plan), described(plan)
        except InvalidInput as error:
            refused, step.detail = error, "refused"
    yield step.event
    if refused is not None:
        raise refused
    said = json.dumps(arguments.as_asked(), ensure_ascii=False)
    async with aclosing(rounds(context, timeline, now)) as steps:
        async for taken in steps:
            if isinstance(taken, Result):
                found = await _found(context, taken)
                yield replace(found, unasked=await off_loop(left_out, context.question, said))
            else:
                yield taken


async def _inquiry(arguments: FindCompaniesArguments, context: Context) -> CompanyInquiry:
    """What is sought: the conditions with values as the data spells them, and the company that others should resemble."""
    stated = await known_conditions(arguments.where, context)
    intent = CompanyIntent(
        stated=stated,
        assumed=assumed(stated),
        topic=arguments.need,
        words=tuple(significant_words(arguments.need)),
        count=arguments.limit,
    )
    if context.run.chat is None:
        # the ranking by rule knows the need by its tags
        read = await read_intent(arguments.need, (), context.caller, context.services)
        intent = replace(intent, tags=read.tags, is_plain=read.is_plain)
    inquiry = CompanyInquiry(intent, (), is_given=True, left_out=frozenset(arguments.not_ids))
    return inquiry if arguments.like is None else await _like(arguments.like, inquiry, context)


async def known_conditions(where: Sequence[Condition], context: Context) -> tuple[Condition, ...]:
    """The conditions with values as the data spells them. Raises InvalidInput for those that the data lacks."""
    query = Query(source=COMPANIES.name, where=tuple(where))
    await off_loop(met, query.where)
    known = await with_known_values(query, DataAccess(SEARCHED, context.caller, {}, {}), context.services.reader)
    return known.where


async def _like(name: str, inquiry: CompanyInquiry, context: Context) -> CompanyInquiry:
    matches = await match_names(context, [name])
    named = [each for each in matches if each.name_score >= context.settings.company_seed_name_min]
    if not named:
        near = " or ".join(repr(each.company_name) for each in matches[:NAMED_MAX])
        message = f"no company here is called {name!r}" + (f"; did you mean {near}?" if near else "")
        raise InvalidInput([FieldError("/like", message)])
    companies = await look_up(context, [named[0].company_id], {})
    seed = companies[named[0].company_id]
    vectors = await stored_vectors(context.services.reader, seed.id)
    return replace(inquiry, likened=name, seed=seed, seed_vectors=vectors, companies=companies)


def _plan(arguments: FindCompaniesArguments, inquiry: CompanyInquiry, context: Context) -> Plan:
    """The plan of the first round."""
    tags: dict[str, list[str]] = {field: [] for field in TAG_FACETS}
    for each in inquiry.intent.stated:
        if isinstance(each, Comparison) and each.field in tags and each.op == "=":
            tags[each.field] += map(str, each.scalars)
    seeds = seed_variants(inquiry.seed) if inquiry.seed else []
    variants = [*arguments.variants, *(seeds or [arguments.need])]
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
    plan = Plan(output, inquiry.intent, demanded=arguments.must)
    return plan.queue(variants, context.settings.company_variants_held)


async def _found(context: Context, result: Result) -> FoundCompanies:
    inquiry, intent = result.inquiry, result.inquiry.intent
    references = [reference(result, each) for each in result.chosen]
    near: list[tuple[Company, Sequence[str]]] = [(each.company, each.unmet) for each in result.near_misses]
    if result.is_near:
        # nothing fits for sure
        near = [(result.companies[each.company_id], each.misses) for each in references] + near
    stated = (*intent.stated, *intent.assumed)
    meeting = await count_meeting(context.services.reader, stated) if intent.stated else None
    remarks = [*dropped(inquiry)]
    remarks += [gettext("the search was cut short by its limits")] if result.is_cut_short else []
    return FoundCompanies(
        result,
        [] if result.is_near else references,
        near,
        meeting,
        _assumed(intent),
        uncovered(result) if result.chosen else result.absent_words,
        remarks,
    )


def _assumed(intent: CompanyIntent) -> list[str]:
    """The conditions that nobody stated, as field and value."""
    return [
        f"{each.field}: {' or '.join(map(str, each.scalars))}"
        for each in intent.assumed
        if isinstance(each, Comparison)
    ]


# ---- the tool ----

_SHOWN = ("tagline", "status", "website_url", "hq_city", "hq_country", "founded_year", "funding_stage", "sectors")


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
        found = [each async for each in events if isinstance(each, FoundCompanies)][-1]
        run.results = [ResultRecord("company", each.company_id, each.confidence) for each in found.fits]
        run.end_reason = found.result.end_reason
    return as_results(found)


def as_results(found: FoundCompanies) -> dict[str, Any]:
    """What a model or an agent is told of a search."""
    companies = found.result.companies
    return {
        "fits": [shown_company(each, companies[each.company_id]) for each in found.fits],
        "near": [
            {"id": company.id, "name": company.company_name, "misses": list(misses)} for company, misses in found.near
        ],
        "meeting": found.meeting,
        "assumed": list(found.assumed),
        "uncovered": list(found.uncovered),
        "unasked": list(found.unasked),
        "remarks": list(found.remarks),
    }


def shown_company(reference: Reference, company: Company) -> dict[str, Any]:
    fields = company.model_dump(mode="json", include=set(_SHOWN), exclude_none=True)
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

TOLD_CHARACTERS_MAX = 12_000
"""Characters of a search's result that the model gets."""


@dataclass(kw_only=True)
class CompanyToolset(Toolset):
    """The general tools over companies, and the search for a need. `found` are the results of the searches."""

    context: Context
    timeline: Timeline
    found: list[FoundCompanies] = field(default_factory=list)
    _one_by_one: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Searches that a model calls at once run one after the other: they share the limits and the log of the run."""

    @property
    def has_found(self) -> bool:
        return bool(self.found) or super().has_found

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
                if not isinstance(event, FoundCompanies):
                    yield event
                    continue
                self.found.append(event)
                shown = json.dumps(bounded(as_results(event), TOLD_CHARACTERS_MAX), ensure_ascii=False)
                fitting = ngettext("{number} company fits", "{number} companies fit", len(event.fits))
                # texts of companies are data
                yield ToolResult(len(event.fits), fitting, fence(shown))


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
