"""A company search as a stream of events.

Read `_search` from top to bottom. A question that is only the name of a company ends the search at once. Else a model leads: it
calls tools, among them the search for a need. Without one, rounds search and rank until that is enough, and the answer is
written; a question that the reader reads as one for a number ends in a count."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from uuid import UUID

from quarry.answering.answer import Answer, AnswerEvent
from quarry.answering.loop import ToolFinished, ToolStarted
from quarry.answering.toolset import answer_with, event_of, events_of
from quarry.answering.written import WrittenAnswer, answer_messages, earlier
from quarry.companies import contract
from quarry.companies.answer import (
    SHOWN_MAX,
    CountResult,
    Result,
    aggregation_of,
    conclude_counted,
    count,
    counted_in_words,
    final_answer,
    over_companies,
    summary_of,
)
from quarry.companies.candidates import (
    CompanyInquiry,
    DescribedCompany,
    NameMatch,
    Round,
    evidence,
    home,
    inline_description,
    profile_words,
    with_former_names,
)
from quarry.companies.context import Context, Timeline, quantity
from quarry.companies.contract import (
    Activity,
    ActivityEvent,
    ChatRequest,
    Company,
    EndReason,
    FinalAnswer,
    FinalAnswerEvent,
    Reference,
    Telemetry,
)
from quarry.companies.fallbacks import broken_off, cut_short, seed_variants
from quarry.companies.find import (
    FIND_COMPANIES,
    CompanyToolset,
    toolset_of,
)
from quarry.companies.intent import LIKELY, CompanyIntent, Name, read_names, without_names
from quarry.companies.reading import as_understood, constraints_of, read_intent, understood_of
from quarry.companies.retrieval import companies_by_ids, look_up, match_names, stored_vectors
from quarry.companies.rounds import REASON_CHARACTERS_MAX, budget_of, rounds
from quarry.language.messages import gettext, in_language_of_question, ngettext
from quarry.language.word_forms import keys, slips
from quarry.language.writing import listed_label
from quarry.models.interface import Message
from quarry.models.step import TextFilter
from quarry.platform.errors import QuarryError
from quarry.platform.off_loop import off_loop
from quarry.platform.text import ALWAYS, QUERY_MAX_CHARACTERS, LinkFilter, said_in, shorten, significant_words
from quarry.query.contract import QueryResult, Understood
from quarry.query.describe import ending
from quarry.runs.run_log import ResultRecord
from quarry.schema.algebra import Query
from quarry.schema.source import folded_value
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event, PartialText, PartialTextEvent, TextWithdrawnEvent
from quarry.verification.check import Verification, Verifier, level
from quarry.verification.wire import SourceText, checked_statements, confidence_of


@dataclass(frozen=True)
class EarlierText:
    """The text of a model that did not finish, and what the check found in it: the answer follows."""

    text: str = ""
    checked: Verification = field(default_factory=lambda: Verification((), ()))


@in_language_of_question
async def search_companies(
    request: ChatRequest, caller: Caller, services: Services, request_id: str | None = None, run_id: UUID | None = None
) -> AsyncGenerator[Event]:
    """The events of one search: steps, the answer's text in pieces, and last the whole answer.

    A failing model degrades steps and never ends the stream; a failing database does, with its QuarryError. Closing the
    generator stops the search before the next step.
    """
    settings = services.settings
    budget, requested = budget_of(settings), request.as_asked()
    with services.run("companies", caller, request.question, requested, budget, request_id, run_id) as run:
        run.session_id = request.session_id or str(run.id)
        timeline = Timeline(run)
        try:
            async with aclosing(_search(Context(request, caller, services, run, settings), timeline)) as events:
                async for event in events:
                    yield event
        except QuarryError:
            if (failed := timeline.broken_off()) is not None:
                yield failed
            raise


async def _search(context: Context, timeline: Timeline) -> AsyncGenerator[Event]:
    is_led = context.run.chat is not None and context.request.understood is None
    with timeline.step("names", gettext("Looking for a company with that name")) as step:
        yield step.event
        async with context.in_time():
            inquiry = await (name_only(context) if is_led else look_up_names(context))
            context = replace(context, settings=await context.services.tuned_settings())
        step.detail = inquiry.detail
    yield step.event
    events = _led(context, inquiry, timeline) if is_led and not inquiry.exact else _searched(context, inquiry, timeline)
    async with aclosing(events):
        async for event in events:
            yield event


async def _led(context: Context, inquiry: CompanyInquiry, timeline: Timeline) -> AsyncGenerator[Event]:
    """The events of an answer that the model leads. Where it fails, what it found is told by rule, else the reader answers."""
    written = ModelAnswer(context, inquiry, await toolset_of(context, timeline))
    async with aclosing(written.answered()) as events:
        async for event in events:
            yield event
    if not written.answer.failed:
        content = written.answer.text
        if any(each.result.is_cut_short for each in written.toolset.found):
            content += cut_short()
            yield PartialTextEvent(data=PartialText(text=cut_short()))
        answer = await led_answer(context, written, content, await off_loop(written.answer.checked))
        for event in _ended(context, answer):
            yield event
        return
    context.run.chat = None  # the rest is by rule
    before = EarlierText()
    if written.answer.text:
        before = EarlierText(written.answer.text + broken_off(), await off_loop(written.answer.checked))
        yield PartialTextEvent(data=PartialText(text=broken_off()))
    found = written.toolset.found
    if found:
        events = _answered(context, timeline, found[-1].result, before)
    else:
        async with context.in_time():
            inquiry = await look_up_names(context)
        events = _searched(context, inquiry, timeline, before)
    async with aclosing(events):
        async for event in events:
            yield event


async def _searched(
    context: Context, inquiry: CompanyInquiry, timeline: Timeline, before: EarlierText = EarlierText()
) -> AsyncGenerator[Event]:
    """The events of the rounds and of the answer, whose text follows the text `before`."""
    if inquiry.intent.asks is not None and not inquiry.exact and context.may_call():
        counts = await _count(context, inquiry.intent.asks)
        if counts is not None:
            async with aclosing(_counted(context, timeline, inquiry, counts, before)) as events:
                async for event in events:
                    yield event
            return
    now = Round(inquiry, end_reason="exact_match" if inquiry.exact else None)
    async with aclosing(rounds(context, timeline, now)) as steps:
        async for taken in steps:
            if not isinstance(taken, Result):
                yield taken
                continue
            async with aclosing(_answered(context, timeline, taken, before)) as events:
                async for event in events:
                    yield event


async def _answered(context: Context, timeline: Timeline, result: Result, before: EarlierText) -> AsyncGenerator[Event]:
    """The text of an answer, and the whole answer."""
    with timeline.step("answer", gettext("Writing the answer")) as step:
        yield step.event
        content, summary = before.text, await summary_of(context, result)
        async with aclosing(summary.events()) as events:
            async for event in events:
                if isinstance(event, PartialTextEvent):
                    content += event.data.text
                elif isinstance(event, TextWithdrawnEvent):
                    content = before.text
                yield event
    yield step.event
    checked = before.checked if before.text else await off_loop(summary.answer.checked)
    for event in _ended(context, final_answer(context, result, content, checked)):
        yield event


def _ended(context: Context, answer: FinalAnswer) -> Iterator[Event]:
    context.run.results = [ResultRecord("company", each.company_id, each.confidence) for each in answer.references]
    context.run.end_reason = answer.telemetry.end_reason
    return ending(FinalAnswerEvent(data=answer), answer.understood)


async def _count(context: Context, query: Query) -> CountResult | None:
    """The result of a query for numbers; None if it is invalid."""
    with context.run.step("count_companies") as record:
        context.run.budget.spend_call()
        async with context.in_time():
            counts = await count(query, context.caller, context.services)
        record.counts["found"] = counts.result.total if counts else 0
    return counts


async def _counted(
    context: Context, timeline: Timeline, inquiry: CompanyInquiry, counts: CountResult, before: EarlierText
) -> AsyncGenerator[Event]:
    """The events of a question that asks for a number."""
    with timeline.step("count", gettext("Counting companies")) as step:
        yield step.event
        step.detail = ngettext("{number} company", "{number} companies", counts.result.total)
    yield step.event
    content = counted_in_words(counts)
    yield PartialTextEvent(data=PartialText(text=content))
    result = conclude_counted(inquiry, counts)
    for event in _ended(context, final_answer(context, result, before.text + content, before.checked)):
        yield event


# ---- the first step: does the question name a company, and does it ask for that company or for similar ones? ----

MEANT_MIN = 0.2
"""The least chance at which a company's name in a question is taken as one."""
SLIPS_MAX = 2
LETTERS_A_SLIP = 4


async def look_up_names(context: Context) -> CompanyInquiry:
    """Read the question, and find the companies of any status that it names. A company that it asks about ends the search; else
    others like it may be wanted.
    """
    names = await off_loop(read_names, context.question)
    matches = await match_names(context, [name.text for name in names])
    likened = next((name for name in names if name.relation == "like" and name.chance >= LIKELY), None)
    with context.run.step("name_precheck") as record:
        named = _names_meant(context, names, matches)
        record.counts.update(names=len(names), matches=len(matches), named=len(named))
    if not named and likened is not None:
        return await _similar(context, names, matches, likened)
    inquiry = CompanyInquiry(
        await _read(context, context.question), names, matches, left_out=_only_mentioned(context, names, matches)
    )
    return await _exact(context, inquiry, named)


async def name_only(context: Context) -> CompanyInquiry:
    """The companies that a question may name. Only a question that is nothing but a name ends the search."""
    names = await off_loop(read_names, context.question)
    matches = await match_names(context, [name.text for name in names])
    with context.run.step("name_precheck") as record:
        whole = [name for name in names if name.is_whole]
        named = _names_meant(
            context, whole, [match for match in matches if match.asked in {name.text for name in whole}]
        )
        record.counts.update(names=len(names), matches=len(matches), named=len(named))
    return await _exact(context, CompanyInquiry(CompanyIntent(), names, matches), named)


async def _exact(context: Context, inquiry: CompanyInquiry, named: Sequence[NameMatch]) -> CompanyInquiry:
    """The inquiry about the companies that are named, if there are any."""
    if not named:
        return replace(inquiry, detail=_near(inquiry.matches))
    companies = await look_up(context, [match.company_id for match in named], {})
    return replace(inquiry, exact=named, companies=companies, detail=_called(named, companies))


async def _similar(
    context: Context, names: Sequence[Name], matches: Sequence[NameMatch], likened: Name
) -> CompanyInquiry:
    """What the question seeks of companies like the one that it names."""
    like = {name.text for name in names if name.relation == "like"}
    named = [
        match for match in matches if match.asked in like and match.name_score >= context.settings.company_seed_name_min
    ]
    companies = await look_up(context, [match.company_id for match in named], {}) if named else {}
    with context.run.step("seed_context") as record:
        seed = await off_loop(_seed, context.question, named, companies)
        record.counts.update(companies=len(companies), variants=len(seed_variants(seed)) if seed else 0)
    if seed is None:
        intent = await _read(context, context.question)
        return CompanyInquiry(intent, names, matches, likened=likened.text, detail=_near(matches))
    seed_names = {match.asked for match in named}
    rest = await off_loop(without_names, context.question, [name for name in names if name.text in seed_names])
    vectors = await stored_vectors(context.services.reader, seed.id)
    # what is left of the question does not ask how many companies there are
    return CompanyInquiry(
        replace(await _read(context, rest), asks=None),
        names,
        matches,
        likened=likened.text,
        seed=seed,
        seed_vectors=vectors,
        companies=companies,
        detail=_called(named, companies),
    )


def _near(matches: Sequence[NameMatch]) -> str:
    if not matches:
        return gettext("no company has that name")
    return gettext("no, the nearest is {name}", name=matches[0].company_name)


def _called(named: Sequence[NameMatch], companies: Mapping[str, Company]) -> str:
    found = (companies[match.company_id] for match in named if match.company_id in companies)
    return listed_label([*dict.fromkeys(map(with_former_names, found))], is_choice=False)


async def _read(context: Context, question: str) -> CompanyIntent:
    """What a question seeks after the earlier ones, or what the request says in its place."""
    earlier = [message.content[:QUERY_MAX_CHARACTERS] for message in context.request.history if message.role == "user"]
    with context.run.step("read_question"):
        seeks = await read_intent(question, earlier, context.caller, context.services)
    return as_understood(seeks, context.request.understood)


def _names_meant(context: Context, names: Sequence[Name], matches: Sequence[NameMatch]) -> list[NameMatch]:
    """The matches that the question is about: a name is the whole question, or it asks about that company. Of a name within a
    longer one, the longer counts. A misspelt name counts too.
    """
    by_text = {name.text: name for name in reversed(names)}
    exact = [match for match in matches if match.name_score >= context.settings.company_exact_name_min]
    borne = [by_text[text] for text in dict.fromkeys(match.asked for match in exact)]
    longest = [name for name in borne if not any(other.holds(name) for other in borne)]
    about = {name.text for name in longest if name.is_whole or _is_about(name, MEANT_MIN)}
    if about:
        return [match for match in exact if match.asked in about]
    likely = {name.text for name in names if not borne and (name.is_whole or _is_about(name, LIKELY))}
    return [match for match in matches if match.asked in likely and _is_a_slip(match.asked, match.company_name)][:1]


def _only_mentioned(context: Context, names: Sequence[Name], matches: Sequence[NameMatch]) -> frozenset[str]:
    """The companies that a question only mentions, such as the buyer of those asked for: they are no answer themselves."""
    mentioned = {name.text for name in names if name.relation == "mentioned" and name.chance >= LIKELY}
    least = context.settings.company_exact_name_min
    return frozenset(each.company_id for each in matches if each.asked in mentioned and each.name_score >= least)


def _is_about(name: Name, chance: float) -> bool:
    return name.relation == "about" and name.chance >= chance


def _is_a_slip(spelling: str, name: str) -> bool:
    """Whether a name was misspelt: at most one wrong letter in four."""
    spelling, name = folded_value(spelling), folded_value(name)
    return slips(spelling, name) <= min(SLIPS_MAX, len(name) // LETTERS_A_SLIP)


def _seed(question: str, named: Sequence[NameMatch], companies: Mapping[str, Company]) -> Company | None:
    """The company with the best score; among equals, the one that shares most words with the question."""
    question_words = set(significant_words(question))
    scores = {match.company_id: match.name_score for match in named}
    return max(
        companies.values(),
        key=lambda company: (
            scores[company.id],
            len(question_words & profile_words(company)),
            company.status == "startup",
        ),
        default=None,
    )


STEP = "companies_answer"
MAX_TURNS = 6
"""Model turns for one answer. The last has no tools, so that the model must answer."""
NAMED_MAX = 5
"""How many companies that the question may name the model is told."""

ABOUT = "a directory of companies"
NOTES = """Here find_companies is for companies for a need, a wide field, or like another company; state each condition in its
`where`, and let its `meeting`, `uncovered` and `unasked` tell you whether one was forgotten. It never counts. It assumes startups
unless `where` says a status: then say so. `near` companies miss what is said of them: they are no answer."""
CITE = "Give the name of each company that you speak of as it is spelt; no citation numbers."


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
            hits="\n".join(self._names()),
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
        known: list[DescribedCompany] = []
        facts: list[str] = []
        for each in toolset.found:
            companies = each.result.companies
            known += [(companies[fit.company_id], [fit.reason, *fit.evidence_chips]) for fit in each.fits]
            known += [(company, [f"It misses {'; '.join(misses)}"]) for company, misses in each.near]
            facts += [quantity(len(each.fits), "company fits", "companies fit"), *each.assumed, *each.remarks]
            facts += [f"{each.meeting} meet the conditions"] if each.meeting is not None else []
        sources = evidence(known, facts)
        sources += [SourceText(len(sources) + n, hit.title, hit.text) for n, hit in enumerate(toolset.hits, start=1)]
        earlier_turns = [message.content for message in context.request.history if message.role == "user"]
        question = "\n".join([*earlier_turns, context.question])
        told = [message.content for message in context.request.history if message.role == "assistant"]
        return toolset.verifier(sources, question, about=ABOUT, earlier=told)


def _event(told: AnswerEvent) -> Event | None:
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


# ---- the final answer ----


async def led_answer(context: Context, written: ModelAnswer, content: str, checked: Verification) -> FinalAnswer:
    """The whole answer: its text, and the companies that it speaks of, else those that the last search found."""
    toolset = written.toolset
    result = _main_result(written)
    found = [reference for each in reversed(toolset.found) for reference in each.fits]
    listed = [] if result is None else _ids(result)
    others_listed = [id for each in toolset.results if each is not result for id in _ids(each)]
    near = [company.id for each in toolset.found for company, _ in each.near]
    ids = list(dict.fromkeys([*listed, *others_listed, *(hit.id for hit in toolset.hits), *near]))
    known = {id: company for each in toolset.found for id, company in each.result.companies.items()}
    unknown = [id for id in ids if id not in known]
    known |= {each.id: each for each in await companies_by_ids(context.services.reader, unknown)}
    by_id = {each.company_id: each for each in reversed(found)}
    others = [_reference(known[id], result, is_listed=id in listed) for id in ids if id in known and id not in by_id]
    spoken_of = await off_loop(_spoken_of, content, [*by_id.values(), *others])
    if not spoken_of and toolset.found and toolset.found[-1].fits and result is None:
        spoken_of = list(toolset.found[-1].fits)
    counts = None if result is None else aggregation_of(CountResult(result))
    read = await off_loop(_understood_by, toolset, result)
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
        confidence=confidence_of(level(checked, is_talk=written.answer.form.rests_on_nothing)),
    )


def _main_result(written: ModelAnswer) -> QueryResult | None:
    """The result of a query that the answer rests on: the one that it names, else the last where nothing else was found."""
    results, place = written.toolset.results, written.answer.form.main_result
    if place is not None and 1 <= place <= len(results):
        return results[place - 1]
    return results[-1] if results and not written.toolset.found else None


def _ids(result: QueryResult) -> list[str]:
    """The companies in the rows of a result."""
    names = [column.name for column in result.columns]
    if not result.query.asks_for_rows or "id" not in names:
        return []
    return [str(row[names.index("id")]) for row in result.rows[:SHOWN_MAX]]


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


def _understood_by(toolset: CompanyToolset, result: QueryResult | None) -> Understood:
    """The query that the answer rests on, else what the last search was for."""
    if result is not None:
        return understood_of(CompanyIntent(), over_companies(result.query))
    return understood_of(toolset.found[-1].result.inquiry.intent if toolset.found else CompanyIntent())


def _end_reason(toolset: CompanyToolset) -> EndReason:
    if toolset.found:
        return toolset.found[-1].result.end_reason
    return "exact_match" if toolset.results or toolset.hits else "converged"
