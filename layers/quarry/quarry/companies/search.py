"""A company search as a stream of events.

Read `_search` from top to bottom. A question that is only the name of a company ends the search at once. Else a model leads: it
calls tools, among them the search for a need. Without one, a question that the reader reads as one for a number ends in a count;
for others, one pass searches and ranks, and the answer is written. The order of reading: `state` has the values, `reading` the
question, `rounds` the steps with `retrieval` and `ranking`, `answer` what comes of them, `tools` the model that leads.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from uuid import UUID

from quarry.companies.answer import Summary, conclude, count, count_in_words, final_answer, summary_inputs
from quarry.companies.contract import ChatRequest, Company, FinalAnswer, FinalAnswerEvent
from quarry.companies.prompts import broken_off, cut_short
from quarry.companies.reading import LIKELY, Name, as_understood, read_intent, read_names, without_names
from quarry.companies.retrieval import Context, Timeline, look_up, match_names, stored_vectors
from quarry.companies.rounds import budget_of, rounds, seed_variants
from quarry.companies.state import CompanyIntent, CompanyQuestion, NameMatch, State, profile_words, with_former_names
from quarry.companies.tools import ModelAnswer, toolset_of
from quarry.language.messages import gettext, in_language_of_question, ngettext
from quarry.language.word_forms import slips
from quarry.language.writing import listed_label
from quarry.platform.errors import QuarryError
from quarry.platform.off_loop import off_loop
from quarry.platform.text import QUERY_MAX_CHARACTERS, significant_words
from quarry.query.describe import ending
from quarry.runs.run_log import ResultRecord
from quarry.schema.source import folded_value
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event, PartialText, PartialTextEvent, TextWithdrawnEvent
from quarry.verification.check import Verification


@dataclass(frozen=True)
class EarlierText:
    """The text of a model that did not finish, and the result of its check: the answer follows."""

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
    budget, arguments = budget_of(settings), request.as_asked()
    with services.run("companies", caller, request.question, arguments, budget, request_id, run_id) as run:
        run.session_id = request.session_id or str(run.id)
        timeline = Timeline(run)
        try:
            async with aclosing(_search(Context(request, caller, services, run, settings), timeline)) as events:
                async for event in events:
                    yield event
        except QuarryError:
            if (interrupted := timeline.broken_off()) is not None:
                yield interrupted
            raise


async def _search(context: Context, timeline: Timeline) -> AsyncGenerator[Event]:
    is_led = context.run.chat is not None and context.request.understood is None
    with timeline.step("names", gettext("Looking for a company with that name")) as step:
        yield step.event
        async with context.in_time():
            question = await read_question(context, is_led=is_led)
            context = replace(context, settings=await context.services.tuned_settings())
        step.detail = _names_in_words(question)
    yield step.event
    answering = _by_model if is_led and not question.exact else _by_rule
    async with aclosing(answering(context, question, timeline)) as events:
        async for event in events:
            yield event


async def _by_model(context: Context, question: CompanyQuestion, timeline: Timeline) -> AsyncGenerator[Event]:
    """The events of an answer that the model leads. Where it fails, its last search is told by rule, else the reader answers."""
    request, toolset = context.request, await toolset_of(context, timeline)
    by_model = ModelAnswer(request.question, request.history, toolset, context, question.matches)
    async with aclosing(by_model.events()) as events:
        async for event in events:
            yield event
    text, searches = by_model.answer.text, by_model.toolset.searches
    if not by_model.answer.failed:
        if any(each.state.is_cut_short for each in searches):
            text += cut_short()
            yield PartialTextEvent(data=PartialText(text=cut_short()))
        answer = await by_model.final_answer(text, await off_loop(by_model.answer.checked))
        for event in _end_events(context, answer):
            yield event
        return
    context.run.chat = None  # the rest is by rule
    before = EarlierText()
    if text:
        before = EarlierText(text + broken_off(), await off_loop(by_model.answer.checked))
        yield PartialTextEvent(data=PartialText(text=broken_off()))
    if searches:
        events = _answer_events(context, timeline, searches[-1].state, before)
    else:
        async with context.in_time():
            question = await read_question(context, is_led=False)
        events = _by_rule(context, question, timeline, before)
    async with aclosing(events):
        async for event in events:
            yield event


async def _by_rule(
    context: Context, question: CompanyQuestion, timeline: Timeline, before: EarlierText = EarlierText()
) -> AsyncGenerator[Event]:
    """The events of a count, or of the search and of the answer, whose text follows the text `before`."""
    if question.intent.asks is not None and not question.exact and context.may_call():
        count_state = await count(context, question, question.intent.asks)
        if count_state is not None:
            async with aclosing(_count_events(context, timeline, count_state, before)) as events:
                async for event in events:
                    yield event
            return
    state = State(question, end_reason="exact_match" if question.exact else None)
    async with aclosing(rounds(context, timeline, state)) as steps:
        async for event in steps:
            yield event
    await conclude(context, state)
    async with aclosing(_answer_events(context, timeline, state, before)) as events:
        async for event in events:
            yield event


async def _answer_events(
    context: Context, timeline: Timeline, state: State, before: EarlierText
) -> AsyncGenerator[Event]:
    """The text of an answer, and the whole answer."""
    with timeline.step("answer", gettext("Writing the answer")) as step:
        yield step.event
        content = before.text
        summary = Summary(context, await off_loop(summary_inputs, context.request.question, state))
        async with aclosing(summary.events()) as events:
            async for event in events:
                if isinstance(event, PartialTextEvent):
                    content += event.data.text
                elif isinstance(event, TextWithdrawnEvent):
                    content = before.text
                yield event
    yield step.event
    checked = before.checked if before.text else await off_loop(summary.answer.checked)
    for event in _end_events(context, final_answer(context, state, content, checked)):
        yield event


async def _count_events(
    context: Context, timeline: Timeline, state: State, before: EarlierText
) -> AsyncGenerator[Event]:
    """The events of a question that asks for a number."""
    result = state.count
    assert result is not None
    with timeline.step("count", gettext("Counting companies")) as step:
        yield step.event
        step.detail = ngettext("{number} company", "{number} companies", result.total)
    yield step.event
    content = count_in_words(result)
    yield PartialTextEvent(data=PartialText(text=content))
    for event in _end_events(context, final_answer(context, state, before.text + content, before.checked)):
        yield event


def _end_events(context: Context, answer: FinalAnswer) -> Iterator[Event]:
    context.run.results = [ResultRecord("company", each.company_id, each.confidence) for each in answer.references]
    context.run.end_reason = answer.telemetry.end_reason
    return ending(FinalAnswerEvent(data=answer), answer.understood)


# ---- the first step: does the question name a company, and does it ask for that company or for similar ones? ----

NAME_CHANCE_MIN = 0.2
"""The least chance at which a company's name in a question is taken as one."""
SLIPS_MAX = 2
LETTERS_A_SLIP = 4


async def read_question(context: Context, *, is_led: bool) -> CompanyQuestion:
    """Read the question, and find the companies of any status that it names. A company that it asks about ends the search; else
    others like it may be wanted. Where a model leads, only a question that is nothing but a name ends the search, and the model
    reads the others.
    """
    text = context.request.question
    names = await off_loop(read_names, text)
    matches = await match_names(context, [name.text for name in names])
    with context.run.step("name_precheck") as record:
        exact = _exact_matches(context, [name for name in names if name.is_whole or not is_led], matches)
        record.counts.update(names=len(names), matches=len(matches), named=len(exact))
    question = CompanyQuestion(names=[name.text for name in names], matches=matches, exact=exact)
    if exact:
        question = replace(question, companies=await look_up(context, [match.company_id for match in exact], {}))
    if is_led:
        return question
    like = next((name for name in names if name.relation == "like" and name.chance >= LIKELY), None)
    if not exact and like is not None:
        return await _similar(context, replace(question, likened=like.text), names)
    intent = await _read_intent(context, text)
    return replace(question, intent=intent, excluded_ids=_only_mentioned(context, names, matches))


async def _similar(context: Context, question: CompanyQuestion, names: Sequence[Name]) -> CompanyQuestion:
    """A question for companies like one that it names."""
    text = context.request.question
    like = {name.text for name in names if name.relation == "like"}
    least = context.settings.company_seed_name_min
    seeds = [match for match in question.matches if match.spelling in like and match.name_score >= least]
    companies = await look_up(context, [match.company_id for match in seeds], {}) if seeds else {}
    with context.run.step("seed_context") as record:
        seed = await off_loop(_seed, text, seeds, companies)
        record.counts.update(companies=len(companies), variants=len(seed_variants(seed)) if seed else 0)
    if seed is None:
        return replace(question, intent=await _read_intent(context, text))
    seed_names = {match.spelling for match in seeds}
    rest = await off_loop(without_names, text, [name for name in names if name.text in seed_names])
    vectors = await stored_vectors(context.services.reader, seed.id)
    # what is left of the question does not ask how many companies there are
    intent = replace(await _read_intent(context, rest), asks=None)
    return replace(question, intent=intent, seed=seed, seed_vectors=vectors, companies=companies)


def _names_in_words(question: CompanyQuestion) -> str:
    """The companies that a question names, in a line."""
    if question.companies:
        return listed_label([*dict.fromkeys(map(with_former_names, question.companies.values()))], is_choice=False)
    if not question.matches:
        return gettext("no company has that name")
    return gettext("no, the nearest is {name}", name=question.matches[0].company_name)


async def _read_intent(context: Context, text: str) -> CompanyIntent:
    """What a question seeks after the earlier ones, or what the request says in its place."""
    earlier = [message.content[:QUERY_MAX_CHARACTERS] for message in context.request.history if message.role == "user"]
    with context.run.step("read_question"):
        intent = await read_intent(text, earlier, context.caller, context.services)
    return as_understood(intent, context.request.understood)


def _exact_matches(context: Context, names: Sequence[Name], matches: Sequence[NameMatch]) -> list[NameMatch]:
    """The matches that the question is about: a name is the whole question, or it asks about that company. Of a name within a
    longer one, the longer counts. A misspelt name counts too.
    """
    by_text = {name.text: name for name in reversed(names)}
    matches = [match for match in matches if match.spelling in by_text]
    exact = [match for match in matches if match.name_score >= context.settings.company_exact_name_min]
    existing = [by_text[text] for text in dict.fromkeys(match.spelling for match in exact)]
    longest = [name for name in existing if not any(other.holds(name) for other in existing)]
    about = {name.text for name in longest if name.is_whole or _is_about(name, NAME_CHANCE_MIN)}
    if about:
        return [match for match in exact if match.spelling in about]
    likely = {name.text for name in names if not existing and (name.is_whole or _is_about(name, LIKELY))}
    return [match for match in matches if match.spelling in likely and _is_a_slip(match.spelling, match.company_name)][
        :1
    ]


def _only_mentioned(context: Context, names: Sequence[Name], matches: Sequence[NameMatch]) -> frozenset[str]:
    """The companies that a question only mentions, such as the buyer of those asked for: they are no answer themselves."""
    mentioned = {name.text for name in names if name.relation == "mentioned" and name.chance >= LIKELY}
    least = context.settings.company_exact_name_min
    return frozenset(each.company_id for each in matches if each.spelling in mentioned and each.name_score >= least)


def _is_about(name: Name, chance: float) -> bool:
    return name.relation == "about" and name.chance >= chance


def _is_a_slip(spelling: str, name: str) -> bool:
    """Whether a name was misspelt: at most one wrong letter in four."""
    spelling, name = folded_value(spelling), folded_value(name)
    return slips(spelling, name) <= min(SLIPS_MAX, len(name) // LETTERS_A_SLIP)


def _seed(question: str, matches: Sequence[NameMatch], companies: Mapping[str, Company]) -> Company | None:
    """The company with the best score; among equals, the one that shares most words with the question."""
    question_words = set(significant_words(question))
    scores = {match.company_id: match.name_score for match in matches}
    return max(
        companies.values(),
        key=lambda company: (
            scores[company.id],
            len(question_words & profile_words(company)),
            company.status == "startup",
        ),
        default=None,
    )
