"""Answering a question about campaigns, as a stream of events.

Read `chat_about_campaigns` from top to bottom. The model calls its tools and writes; without a model, and where it fails, the
reader answers. The final event has the campaigns that the answer speaks of.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

from quarry.agent.sources import data_access
from quarry.answering.answer import BROKEN_OFF, AnswerEvent
from quarry.answering.chat import ChatAnswer
from quarry.answering.loop import ToolFinished, ToolStarted
from quarry.answering.written import WrittenAnswer
from quarry.campaigns.by_reader import ReaderAnswer
from quarry.campaigns.conditions import (
    NAME,
    NOTHING,
    PHRASES,
    SCHEMA,
    CampaignSet,
    KnownValues,
    Question,
    Search,
    filters_of,
    label_of,
    sentence,
)
from quarry.campaigns.contract import (
    Aggregation,
    Campaign,
    ChatRequest,
    ChatResponse,
    EndReason,
    FinalAnswerEvent,
    FoundCampaign,
    Telemetry,
)
from quarry.campaigns.retrieval import find_ids, known_values
from quarry.campaigns.tools import STEP, CampaignToolset, check_filters, check_understood, observation
from quarry.language.messages import gettext, in_language_of_question
from quarry.language.recognition import is_likely_english
from quarry.platform.budget import Budget
from quarry.platform.errors import DatabaseUnavailable
from quarry.platform.off_loop import off_loop
from quarry.platform.text import significant_words
from quarry.query.contract import Understood
from quarry.query.describe import ending, reckoned, understood
from quarry.query.execute import meets_and_misses
from quarry.runs.run_log import ResultRecord
from quarry.schema.algebra import Condition, Query, Words
from quarry.schema.source import plain
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event, PartialText, PartialTextEvent, ToolCalled, ToolCallEvent
from quarry.verification.check import Exact, Passages, Verification, level
from quarry.verification.values import read_values
from quarry.verification.wire import checked_statements, confidence_of

MAX_CALLS = 12
VALUES_SECONDS = 60.0


@in_language_of_question
async def chat_about_campaigns(
    request: ChatRequest, caller: Caller, services: Services, request_id: str | None = None, run_id: UUID | None = None
) -> AsyncGenerator[Event]:
    """The events of one answer. A failing model degrades steps and never ends the stream; a failing database does.

    Raises InvalidInput when the page's filters name what does not exist.
    """
    settings = services.settings
    budget = Budget.for_answer(MAX_TURNS, MAX_CALLS, settings.campaigns_chat_seconds, settings.campaigns_chat_tokens)
    stated = request.as_asked()
    with services.run("campaigns", caller, request.message, stated, budget, request_id, run_id) as run:
        values = await values_of(services)
        base = await check_filters(request, values, services.reader)
        request = await check_understood(request, services.reader)
        access = await data_access(caller, services)
        name = access.name_of(NAME, NAME)
        toolset = CampaignToolset(
            services=services,
            caller=caller,
            run=run,
            access=access,
            # relative days count from the latest capture, since campaigns are collected, not live
            today=values.latest or datetime.datetime.now(datetime.UTC).date(),
            names=[name] if name is not None else [],
            values=values,
            base=base,
        )
        if request.understood is not None:
            toolset.requested = (*request.understood.query.where, *request.understood.assumed)
            toolset.preferred = request.understood.preferred
        by_model = ModelAnswer(request.message, request.history, toolset, request)
        by_reader = ReaderAnswer(request, toolset)
        answer = by_model.answer
        if run.chat is not None:
            async with aclosing(by_model.events()) as events:
                async for event in events:
                    yield event
        if run.chat is None or answer.failed:
            if answer.text:
                yield PartialTextEvent(data=PartialText(text=BROKEN_OFF))
            async with aclosing(by_reader.events()) as events:
                async for event in events:
                    yield event
        text = BROKEN_OFF.join(filter(None, (answer.text, by_reader.text)))
        checked = await off_loop(answer.checked)
        model_answer = None if by_reader.text else answer.form
        data = await conclude(request, toolset, by_reader.question, model_answer, text, checked)
        for event in ending(FinalAnswerEvent(data=data), data.understood):
            yield event


async def values_of(services: Services) -> KnownValues:
    """The known values of filters, looked up once a minute."""
    look_up = partial(known_values, services.reader)
    values = await services.memory.read("campaign values", look_up, seconds=VALUES_SECONDS)
    # an empty table may be filled at any moment
    return values or await look_up()


# ---- an answer that a model writes: it calls tools, and writes from their results ----

MAX_TURNS = 5
"""Model turns for one answer. The last has no tools, so that the model must answer."""


@dataclass
class ModelAnswer(ChatAnswer[CampaignToolset]):
    """An answer that a model writes, in progress."""

    step = STEP
    max_turns = MAX_TURNS
    history_max = 8
    about = "a collection of marketing campaigns"
    notes = """Here semantic_search is for a theme that no field covers, full_text_search for words of the copy, filter_campaigns
for properties, where what is ruled out goes into `exclude`, and aggregate_campaigns for plain counts. If nothing is found, try
one wider search."""
    cite = """Give the id of each campaign that you speak of, as in [c-17], with its brand; no id that
  no result shows. Costs, views and the like are in no campaign."""

    request: ChatRequest

    async def card(self) -> str:
        values = self.toolset.values
        days = f"Captured from {values.earliest} to {values.latest}; recent counts back from the latter."
        parts = (await self.toolset.card(self.question), days if values.latest else "")
        return "\n".join(filter(None, parts)) or "There are no campaigns."

    @property
    def facts(self) -> str:
        """The conditions of every search: the filters of the page, and those set by the user."""
        lines = [f"{name}: {value}" for name, value in self.request.base_filters.in_force().items()]
        if (understood := self.request.understood) is not None:
            lines += map(label_of, (*understood.query.where, *understood.assumed))
            lines += [f"about {understood.about}"] if understood.about else []
            lines += [f"saying {understood.query.text}"] if understood.query.text else []
        return f"campaigns {'; '.join(lines)}" if lines else ""

    def texts(self) -> Iterable[object]:
        campaigns = {each.id: each for search in self.toolset.searches for each in search.matches.campaigns}
        return [each.model_dump() for each in campaigns.values()]

    def event(self, happened: AnswerEvent) -> Event | None:
        match happened:
            case ToolStarted(id, tool, arguments):
                own = {name: value for name, value in arguments.items() if value != []}
                return ToolCallEvent(data=ToolCalled(id=id, tool=tool, arguments=own))
            case ToolFinished(id, tool, result):
                campaigns = self.toolset.sets_by_text.get(result.text_for_model, NOTHING).campaigns
                return observation(id, tool, result.count, result.summary, campaigns)
        return super().event(happened)


# ---- the final answer: its campaigns, how they were found, and what to ask next ----

RECORDED_RESULTS = 50
SUGGESTIONS = 3


async def conclude(
    request: ChatRequest,
    toolset: CampaignToolset,
    question: Question | None,
    model_answer: WrittenAnswer | None,
    text: str,
    checked: Verification,
) -> ChatResponse:
    """The final answer, with the conditions that each campaign meets and misses. Records the results and the end reason in the
    run. `question` is set if the reader answered, and `model_answer` if a model did.
    """
    search, mentioned = await off_loop(_mentioned, toolset, text, model_answer)
    campaigns = await _campaigns_with_counts(toolset, search, mentioned, text)
    response = await off_loop(_response, request, toolset, search, text, campaigns, question, model_answer)
    response.statements = checked_statements(checked)
    response.unsupported = [each.text for each in checked.of("flagged")]
    response.confidence = confidence_of(
        level(basis_of(question, search, checked), is_talk=model_answer is not None and model_answer.rests_on_nothing)
    )
    await _add_standings(response, toolset, search)
    return response


def basis_of(question: Question | None, search: Search, checked: Verification) -> Verification | Exact | Passages:
    """What the answer rests on: without a model the query that the question was read as, or campaigns near a theme, which claim
    nothing.
    """
    if question is None:
        return checked
    if search.result is None:
        return Passages()
    return Exact.read(is_sure=question.verdict == "confident", unread=question.unread)


async def _campaigns_with_counts(
    toolset: CampaignToolset, search: Search, mentioned: Sequence[Campaign], text: str
) -> CampaignSet:
    """The campaigns in the answer with their counts: all that the search found, or some of them."""
    ids = [each.id for each in mentioned]
    if ids == [each.id for each in search.matches.campaigns]:
        return search.matches
    if search.matches.total > len(ids) > 0 and any(
        each.value == search.matches.total for each in read_values(text).numbers
    ):
        # it tells how many there are, and names some of them
        return replace(search.matches, campaigns=tuple(mentioned))
    try:
        return await find_ids(toolset.services.reader, ids)
    except DatabaseUnavailable:
        toolset.run.degrade(STEP)
        return CampaignSet(len(ids), tuple(mentioned), has_counts=False)


async def _add_standings(response: ChatResponse, toolset: CampaignToolset, search: Search) -> None:
    """Set the conditions that each campaign meets and misses."""
    words = (Words(words=search.words),) if search.words else ()
    conditions = tuple(dict.fromkeys((*toolset.base, *search.conditions, *words, *toolset.preferred)))
    if not conditions or not response.campaigns:
        return
    ids = [campaign.id for campaign in response.campaigns]
    try:
        met = await meets_and_misses(toolset.services.reader, conditions, NAME, SCHEMA, ids, toolset.today)
    except DatabaseUnavailable:
        toolset.run.degrade(STEP)
        return
    labels = [label_of(each, toolset.today) for each in conditions]
    for campaign in response.campaigns:
        own = list(zip(labels, met.get(campaign.id, ()), strict=False))
        campaign.meets = [label for label, is_met in own if is_met]
        campaign.misses = [label for label, is_met in own if not is_met]


def _mentioned(
    toolset: CampaignToolset, text: str, model_answer: WrittenAnswer | None
) -> tuple[Search, list[Campaign]]:
    """The search that the answer is based on, and the campaigns that it speaks of: those that it names, else those of the result
    that it says it rests on, else, where it says nothing of that, those of the last search that found any. If several searches
    found the ones that it names, the conditions are those that they share.
    """
    if not toolset.searches:
        return _NO_SEARCH, []
    if model_answer is None:
        return toolset.searches[-1], list(toolset.searches[-1].matches.campaigns)
    main = _main_search(toolset, model_answer)
    if main is None:
        return _NO_SEARCH, []
    searches = [main, *(search for search in reversed(toolset.searches) if search is not main)]
    mentioned = mentioned_campaigns(text, [search.matches for search in searches])
    first, *others = _searches_of(searches, mentioned)
    if not others:
        return first, mentioned
    shared = tuple(each for each in first.conditions if all(each in other.conditions for other in others))
    return Search(first.tool, shared, main.matches), mentioned


_NO_SEARCH = Search("", (), NOTHING)


def _main_search(toolset: CampaignToolset, model_answer: WrittenAnswer) -> Search | None:
    """The search that an answer rests on, by its first line; None if that says that it rests on none."""
    place = model_answer.main_result
    if place is not None and 1 <= place <= len(toolset.searches):
        return toolset.searches[place - 1]
    return None if model_answer.rests_on_nothing else toolset.last_with_matches


def _searches_of(searches: Sequence[Search], campaigns: Sequence[Campaign]) -> list[Search]:
    """The first search that found all of the campaigns; else those that found some."""
    ids = {campaign.id for campaign in campaigns}
    counts = [(search, len(ids.intersection(each.id for each in search.matches.campaigns))) for search in searches]
    whole = [search for search, count in counts if count == len(ids)]
    return whole[:1] or [search for search, count in counts if count]


def _response(
    request: ChatRequest,
    toolset: CampaignToolset,
    search: Search,
    text: str,
    campaigns: CampaignSet,
    question: Question | None,
    model_answer: WrittenAnswer | None,
) -> ChatResponse:
    run, mentioned = toolset.run, campaigns.campaigns
    run.results = [
        # the score is the inverse of the rank
        ResultRecord("campaign", campaign.id, 1.0 / place)
        for place, campaign in enumerate(mentioned[:RECORDED_RESULTS], start=1)
    ]
    run.end_reason = end_reason = _end_reason(toolset)
    reading = _understood(toolset, search, question)
    followups = model_answer.followups if model_answer is not None else ()
    # only questions in the language of the question
    own = [each for each in followups if is_likely_english(each) == is_likely_english(request.message)]
    detected = filters_of(search.conditions, toolset.today, toolset.values.latest)
    return ChatResponse(
        response=text,
        campaigns=[FoundCampaign.model_validate(campaign.model_dump()) for campaign in mentioned],
        total=campaigns.total,
        more=campaigns.more,
        aggregation=_aggregation(toolset, search, campaigns),
        suggestions=own or suggest(request.message, search.matches, toolset.values),
        detected_filters=request.base_filters.in_force() | detected.in_force(),
        understood=reading,
        telemetry=Telemetry(
            run_id=str(run.id),
            turn_count=run.budget.turns,
            tool_call_count=run.budget.calls,
            end_reason=end_reason,
            degraded_steps=run.degraded,
        ),
    )


def _understood(toolset: CampaignToolset, search: Search, question: Question | None) -> Understood:
    """The query that an answer is based on, with the conditions of the page, and what stands beside it."""
    where = tuple(dict.fromkeys((*toolset.base, *search.conditions)))
    query = search.result.query if search.result else Query(source=NAME, text=search.words)
    return understood(
        query.model_copy(update={"source": NAME, "where": where, "text": search.words}),
        replace(PHRASES, today=toolset.today),
        preferred=toolset.preferred,
        about=search.theme,
        unread=question.unread if question is not None else (),
        evidence=question.evidence if question is not None else (),
    )


def _aggregation(toolset: CampaignToolset, search: Search, campaigns: CampaignSet) -> Aggregation | None:
    """The counts of the campaigns, with the query if it can express the whole set."""
    counts, name = campaigns.aggregation, toolset.source
    if not campaigns.total or not campaigns.has_counts or counts is None:
        return None
    if campaigns is not search.matches or name is None or search.theme or search.tool == "get":
        return counts
    where: tuple[Condition, ...] = (*toolset.base, *search.conditions)
    query = search.result.query if search.result else Query(source=name, where=where, text=search.words)
    result = search.result
    numbers = reckoned(result) if result is not None and not result.query.asks_for_rows else {}
    groups, columns = (numbers.get(name, []) for name in ("groups", "columns"))
    text = sentence(search, toolset.today)
    return counts.model_copy(update={"query": query, "sentence": text, "groups": groups, "columns": columns})


def _end_reason(toolset: CampaignToolset) -> EndReason:
    if toolset.searches and not any(search.matches.total for search in toolset.searches):
        return "nothing_found"
    budget = toolset.run.budget
    spent = budget.turns >= budget.max_turns or not budget.calls_left or not budget.seconds_for_work
    return "budget_spent" if toolset.run.chat is not None and spent else "answered"


def suggest(question: str, matches: CampaignSet, values: KnownValues) -> list[str]:
    """Suggested questions that the data can answer and that were not just asked: about this set first, then about all. They are
    in English, so that a question in another language has none.
    """
    if not values or not is_likely_english(question):
        return []
    own = set(significant_words(question))
    counts = matches.counts if matches.total else {}
    company, channel = _first(counts, "company"), _first(counts, "channel")
    sentiment, value_prop = _first(counts, "sentiment"), _first(counts, "value_prop")
    offers, other_channel = _first(counts, "offer"), _top_value(values, "channel")
    candidates: Iterable[tuple[bool, str]] = (
        (bool(company and offers), gettext("What are the offers from {company} campaigns?", company=company)),
        (
            bool(channel and value_prop),
            gettext("Which value propositions are most common on {channel}?", channel=channel),
        ),
        (bool(value_prop), gettext("How many campaigns promise {value_prop}?", value_prop=value_prop)),
        (bool(sentiment and offers), gettext("Show me {sentiment} campaigns with an offer", sentiment=sentiment)),
        (bool(company and sentiment), gettext("What sentiment do {company} campaigns have?", company=company)),
        (bool(company), gettext("Which channels does {company} use?", company=company)),
        (bool(other_channel), gettext("How many campaigns ran on {channel}?", channel=other_channel)),
        (
            bool(_top_value(values, "value_prop")),
            gettext("Which value propositions are most common for {company}?", company=_top_value(values, "company")),
        ),
        (True, gettext("Which companies have the most campaigns?")),
    )
    offered = dict.fromkeys(text for holds, text in candidates if holds and not own.issuperset(significant_words(text)))
    return list(offered)[:SUGGESTIONS]


def mentioned_campaigns(answer: str, sets: Sequence[CampaignSet]) -> list[Campaign]:
    """The campaigns of these sets that `answer` names: by id, or by a brand or company of which it gives no id. If it names none,
    all of the first set.
    """
    by_id = {campaign.id: campaign for each in sets for campaign in each.campaigns}
    text = f" {plain(answer)} "
    ids = {id for id in by_id if re.search(rf"(?<![\w-]){re.escape(id)}(?![\w-])", answer)}
    names_of = (
        {id: plain(campaign.brand or "") for id, campaign in by_id.items()},
        {id: plain(campaign.company) for id, campaign in by_id.items()},
    )
    for names in names_of:
        used_names = {names[id] for id in ids}
        ids |= {id for id, name in names.items() if name and name not in used_names and f" {name} " in text}
    return [by_id[id] for id in by_id if id in ids] or (list(sets[0].campaigns) if sets else [])


def _first(counts: Mapping[str, Mapping[str, int]], field: str) -> str | None:
    return next(filter(None, counts.get(field, {})), None)


def _top_value(values: KnownValues, field: str) -> str | None:
    return next(iter(values.by_filter.get(field, ())), None)
