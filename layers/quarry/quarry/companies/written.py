"""An answer about companies that a model writes: it plans by calling tools, and writes from their results.

Numbers, orders and facts come from the general tools, companies for a need from `find_companies`, whose rounds are activities.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from quarry.agent.domain_tools import bounded
from quarry.agent.sources import data_access
from quarry.answering.answer import Answer, Told
from quarry.answering.loop import Tool, ToolFinished, ToolResult, ToolStarted
from quarry.answering.toolset import Toolset, answer_with, event_of, events_of
from quarry.answering.written import WrittenAnswer, answer_messages, earlier
from quarry.companies import contract
from quarry.companies.answer import SHOWN_MAX, Counted, aggregation_of, asked_of
from quarry.companies.candidates import Known, evidence, home, inline_description
from quarry.companies.context import CompanyInquiry, Context, Timeline, counted
from quarry.companies.contract import Activity, ActivityEvent, Company, EndReason, FinalAnswer, Reference, Telemetry
from quarry.companies.facets import COMPANIES
from quarry.companies.find import FIND_COMPANIES, FindCompaniesArguments, FoundCompanies, as_results, find_companies
from quarry.companies.intent import CompanyIntent
from quarry.companies.reading import constraints_of, understood_of
from quarry.companies.retrieval import companies_by_ids
from quarry.companies.rounds import REASON_CHARACTERS_MAX
from quarry.language.messages import ngettext
from quarry.language.word_forms import keys
from quarry.models.interface import Message
from quarry.models.step import TextFilter
from quarry.platform.off_loop import off_loop
from quarry.platform.text import ALWAYS, LinkFilter, fence, said_in, shorten
from quarry.query.contract import QueryResult, Understood
from quarry.schema.algebra import Query
from quarry.streaming.events import Event
from quarry.verification.check import Verification, Verifier, level
from quarry.verification.wire import SourceText, checked_statements, confidence_of

STEP = "companies_answer"
MAX_TURNS = 6
"""Model turns for one answer. The last has no tools, so that the model must answer."""
NAMED_MAX = 5
"""How many companies that the question may name the model is told."""
TOLD_CHARACTERS_MAX = 12_000
"""Characters of a search's result that the model gets."""

ABOUT = "a directory of companies"
NOTES = """Here find_companies is for companies for a need, a wide field, or like another company; state each condition in its
`where`, and let its `meeting`, `uncovered` and `unasked` tell you whether one was forgotten. It never counts. It assumes startups
unless `where` says a status: then say so. `near` companies miss what is said of them: they are no answer."""
CITE = "Give the name of each company that you speak of as it is spelt; no citation numbers."


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


@dataclass
class ModelAnswer:
    """An answer that a model writes, in progress. `inquiry` has the companies whose names the question may hold."""

    context: Context
    inquiry: CompanyInquiry
    toolset: CompanyToolset
    answer: Answer = field(init=False)

    def __post_init__(self) -> None:
        self.answer = answer_with(self.toolset, STEP, MAX_TURNS, self._filters, self._verifier)

    async def answered(self) -> AsyncGenerator[Event]:
        """The events of the answer; a model that fails ends it. Raises DatabaseUnavailable."""
        written = events_of(self.answer, await self._messages(), self.toolset.tools(), _event)
        async with aclosing(written) as events:
            async for event in events:
                yield event

    async def _messages(self) -> Sequence[Message]:
        context, toolset = self.context, self.toolset
        return answer_messages(
            context.question,
            [earlier(message.role, message.content) for message in context.request.history],
            about=ABOUT,
            card=await toolset.card(context.question) or "There are no companies.",
            today=toolset.today,
            notes=NOTES,
            cite=CITE,
            found="\n".join(self._names()),
        )

    def _names(self) -> Iterator[str]:
        """The companies whose names the question may hold, and those shown before."""
        for match in self.inquiry.matches[:NAMED_MAX]:
            if match.name_score >= self.context.settings.company_seed_name_min:
                yield f"{match.asked!r} is the name of {match.company_name} (id {match.company_id}, {match.status})"
        if shown := self.context.request.previous_candidate_ids:
            yield f"Shown before, best first: {', '.join(shown)}"

    def _filters(self, written: WrittenAnswer) -> Sequence[TextFilter]:
        """Only addresses in the results stay links."""
        held = [each.result.companies[company.company_id] for each in self.toolset.found for company in each.fits]
        texts = [*(each.model_dump() for each in held), *(hit.text for hit in self.toolset.hits)]
        return [LinkFilter({ALWAYS: said_in([*texts, *(hit.url or "" for hit in self.toolset.hits)])})]

    def _verifier(self) -> Verifier:
        """What checks the text against the results of tools."""
        toolset, context = self.toolset, self.context
        known: list[Known] = []
        facts: list[str] = []
        for each in toolset.found:
            companies = each.result.companies
            known += [(companies[fit.company_id], [fit.reason, *fit.evidence_chips]) for fit in each.fits]
            known += [(company, [f"It misses {'; '.join(misses)}"]) for company, misses in each.near]
            facts += [counted(len(each.fits), "company fits", "companies fit"), *each.assumed, *each.remarks]
            facts += [f"{each.meeting} meet the conditions"] if each.meeting is not None else []
        sources = evidence(known, facts)
        sources += [SourceText(len(sources) + n, hit.title, hit.text) for n, hit in enumerate(toolset.hits, start=1)]
        earlier_turns = [message.content for message in context.request.history if message.role == "user"]
        question = "\n".join([*earlier_turns, context.question])
        told = [message.content for message in context.request.history if message.role == "assistant"]
        return toolset.verifier(sources, question, about=ABOUT, told=told)


def _event(told: Told) -> Event | None:
    match told:
        case ToolStarted(_, tool) | ToolFinished(_, tool) if tool == FIND_COMPANIES.name:
            return None  # its steps are activities
        case ToolStarted(id, tool):
            return _activity(id, tool, "running")
        case ToolFinished(id, tool, result):
            return _activity(id, tool, "completed", result.summary)
    return event_of(told)


def _activity(id: str, tool: str, status: contract.ActivityStatus, detail: str | None = None) -> ActivityEvent:
    """A call of a general tool as a step."""
    label = tool.replace("_", " ").capitalize()
    return ActivityEvent(data=Activity(id=f"{tool}_{id}", label=label, status=status, detail=detail))


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


# ---- the final answer ----


async def led_answer(context: Context, written: ModelAnswer, content: str, checked: Verification) -> FinalAnswer:
    """The whole answer: its text, and the companies that it speaks of, else those that the last search found."""
    toolset = written.toolset
    result = _main_result(written)
    found = [reference for each in reversed(toolset.found) for reference in each.fits]
    listed = [] if result is None else _ids(result)
    others_listed = [id for each in toolset.results if each is not result for id in _ids(each)]
    ids = list(
        dict.fromkeys([*listed, *others_listed, *(hit.id for hit in toolset.hits), *(id for id, _ in _near(toolset))])
    )
    known = {id: company for each in toolset.found for id, company in each.result.companies.items()}
    unknown = [id for id in ids if id not in known]
    known |= {each.id: each for each in await companies_by_ids(context.services.reader, unknown)}
    by_id = {each.company_id: each for each in reversed(found)}
    others = [_reference(known[id], result, is_listed=id in listed) for id in ids if id in known and id not in by_id]
    spoken_of = await off_loop(_spoken_of, content, [*by_id.values(), *others])
    if not spoken_of and toolset.found and toolset.found[-1].fits and result is None:
        spoken_of = list(toolset.found[-1].fits)
    counts = None if result is None else aggregation_of(Counted(result))
    read = await off_loop(_read, toolset, result)
    return FinalAnswer(
        content=content,
        references=spoken_of,
        understood=read,
        constraints=constraints_of(read),
        companies_by_id={each.company_id: known[each.company_id] for each in spoken_of},
        telemetry=Telemetry(
            run_id=str(context.run.id),
            iteration_count=context.run.iterations,
            tool_call_count=context.run.budget.calls,
            end_reason=_end_reason(toolset),
            degraded_steps=context.run.degraded,
        ),
        aggregation=counts,
        session_id=context.run.session_id,
        statements=checked_statements(checked),
        confidence=confidence_of(level(checked, is_talk=written.answer.written.rests_on_nothing)),
    )


def _main_result(written: ModelAnswer) -> QueryResult | None:
    """The result of a query that the answer rests on: the one that it names, else the last where nothing else was found."""
    results, place = written.toolset.results, written.answer.written.main_result
    if place is not None and 1 <= place <= len(results):
        return results[place - 1]
    return results[-1] if results and not written.toolset.found else None


def _ids(result: QueryResult) -> list[str]:
    """The companies in the rows of a result."""
    names = [column.name for column in result.columns]
    if not result.query.asks_for_rows or "id" not in names:
        return []
    return [str(row[names.index("id")]) for row in result.rows[:SHOWN_MAX]]


def _near(toolset: CompanyToolset) -> Iterator[tuple[str, Sequence[str]]]:
    for each in toolset.found:
        yield from ((company.id, misses) for company, misses in each.near)


def _reference(company: Company, result: QueryResult | None, *, is_listed: bool) -> Reference:
    reason = shorten(result.sentence, REASON_CHARACTERS_MAX) if result is not None and is_listed else ""
    return Reference(
        company_id=company.id,
        company_name=company.company_name,
        reason=reason or inline_description(company),
        inline_description=inline_description(company),
        evidence_chips=[chip for chip in (company.status.capitalize(), home(company)) if chip],
        confidence=1.0,
    )


def _spoken_of(content: str, offered: Sequence[Reference]) -> list[Reference]:
    """The companies whose names the text contains."""
    text = f" {' '.join(keys(content))} "
    return [each for each in offered if f" {' '.join(keys(each.company_name))} " in text]


def _read(toolset: CompanyToolset, result: QueryResult | None) -> Understood:
    """The query that the answer rests on, else what the last search was for."""
    if result is not None:
        return understood_of(CompanyIntent(), asked_of(result.query))
    return understood_of(toolset.found[-1].result.inquiry.intent if toolset.found else CompanyIntent())


def _end_reason(toolset: CompanyToolset) -> EndReason:
    if toolset.found:
        return toolset.found[-1].result.end_reason
    return "exact_match" if toolset.results or toolset.hits else "converged"
