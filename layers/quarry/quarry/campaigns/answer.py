"""The final answer: its campaigns, how they were found, and what to ask next."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from quarry.answering.written import WrittenAnswer
from quarry.campaigns.by_reader import Question
from quarry.campaigns.conditions import NAME, PHRASES, SCHEMA, constraints_of, filters_of, label_of, on_wire
from quarry.campaigns.contract import (
    Aggregation,
    Campaign,
    ChatRequest,
    ChatResponse,
    EndReason,
    FoundCampaign,
    Telemetry,
)
from quarry.campaigns.results import NOTHING, CampaignSet, KnownValues, Search
from quarry.campaigns.retrieval import find_ids
from quarry.campaigns.tools import STEP, CampaignToolset
from quarry.campaigns.wording import sentence
from quarry.language.messages import gettext
from quarry.language.recognition import is_likely_english
from quarry.platform.errors import DatabaseUnavailable
from quarry.platform.off_loop import off_loop
from quarry.platform.text import significant_words
from quarry.query.contract import Understood
from quarry.query.describe import reckoned, understood
from quarry.query.execute import meets_and_misses
from quarry.runs.run_log import ResultRecord
from quarry.schema.algebra import Condition, Query, Words
from quarry.schema.source import plain
from quarry.verification.check import Exact, Passages, Verification, level
from quarry.verification.values import read_values
from quarry.verification.wire import checked_statements, confidence_of

RECORDED_RESULTS = 50
SUGGESTIONS = 3


async def conclude(
    request: ChatRequest,
    toolset: CampaignToolset,
    question: Question | None,
    written: WrittenAnswer | None,
    text: str,
    checked: Verification,
) -> ChatResponse:
    """The final answer, with the conditions that each campaign meets and misses. Records the results and the end reason in the
    run. `question` is set if the reader answered, and `written` if a model did.
    """
    search, spoken_of = await off_loop(_spoken_of, toolset, text, written)
    counted = await _counted(toolset, search, spoken_of, text)
    response = await off_loop(_response, request, toolset, search, text, counted, question, written)
    response.statements = checked_statements(checked)
    response.unsupported = [each.text for each in checked.of("flagged")]
    response.confidence = confidence_of(
        level(basis_of(question, search, checked), is_talk=written is not None and written.rests_on_nothing)
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


async def _counted(toolset: CampaignToolset, search: Search, spoken_of: Sequence[Campaign], text: str) -> CampaignSet:
    """The campaigns in the answer with their counts: all that the search found, or some of them."""
    ids = [each.id for each in spoken_of]
    if ids == [each.id for each in search.found.campaigns]:
        return search.found
    if search.found.total > len(ids) > 0 and any(
        each.value == search.found.total for each in read_values(text).numbers
    ):
        # it tells how many there are, and names some of them
        return replace(search.found, campaigns=tuple(spoken_of))
    try:
        return await find_ids(toolset.services.reader, ids)
    except DatabaseUnavailable:
        toolset.run.degrade(STEP)
        return CampaignSet(len(ids), tuple(spoken_of), is_counted=False)


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


def _spoken_of(toolset: CampaignToolset, text: str, written: WrittenAnswer | None) -> tuple[Search, list[Campaign]]:
    """The search that the answer is based on, and the campaigns that it speaks of: those that it names, else those of the result
    that it says it rests on, else, where it says nothing of that, those of the last search that found any. If several searches
    found the ones that it names, the conditions are those that they share.
    """
    if not toolset.searches:
        return _NO_SEARCH, []
    if written is None:
        return toolset.searches[-1], list(toolset.searches[-1].found.campaigns)
    main = _rested_on(toolset, written)
    if main is None:
        return _NO_SEARCH, []
    searches = [main, *(search for search in reversed(toolset.searches) if search is not main)]
    spoken_of = campaigns_spoken_of(text, [search.found for search in searches])
    first, *others = _found_by(searches, spoken_of)
    if not others:
        return first, spoken_of
    shared = tuple(each for each in first.conditions if all(each in other.conditions for other in others))
    return Search(first.tool, shared, main.found), spoken_of


_NO_SEARCH = Search("", (), NOTHING)


def _rested_on(toolset: CampaignToolset, written: WrittenAnswer) -> Search | None:
    """The search that an answer rests on, by its first line; None if that says that it rests on none."""
    place = written.main_result
    if place is not None and 1 <= place <= len(toolset.searches):
        return toolset.searches[place - 1]
    return None if written.rests_on_nothing else toolset.last_found


def _found_by(searches: Sequence[Search], campaigns: Sequence[Campaign]) -> list[Search]:
    """The first search that found all of the campaigns; else those that found some."""
    ids = {campaign.id for campaign in campaigns}
    held = [(search, len(ids.intersection(each.id for each in search.found.campaigns))) for search in searches]
    whole = [search for search, count in held if count == len(ids)]
    return whole[:1] or [search for search, count in held if count]


def _response(
    request: ChatRequest,
    toolset: CampaignToolset,
    search: Search,
    text: str,
    counted: CampaignSet,
    question: Question | None,
    written: WrittenAnswer | None,
) -> ChatResponse:
    run, spoken_of = toolset.run, counted.campaigns
    run.results = [
        # the score is the inverse of the rank
        ResultRecord("campaign", campaign.id, 1.0 / place)
        for place, campaign in enumerate(spoken_of[:RECORDED_RESULTS], start=1)
    ]
    run.end_reason = end_reason = _end_reason(toolset)
    read = _understood(toolset, search, question)
    detected = filters_of(on_wire(search.conditions, toolset.today), toolset.values.latest)
    return ChatResponse(
        response=text,
        campaigns=[FoundCampaign.model_validate(campaign.model_dump()) for campaign in spoken_of],
        total=counted.total,
        more=counted.more,
        aggregation=_aggregation(toolset, search, counted),
        suggestions=_own_questions(request.message, written) or suggest(request.message, search.found, toolset.values),
        detected_filters=request.base_filters.in_force() | detected.in_force(),
        understood=read,
        constraints=constraints_of(read, toolset.today, question.evidence if question is not None else ()),
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


def _aggregation(toolset: CampaignToolset, search: Search, counted: CampaignSet) -> Aggregation | None:
    """The counts of the campaigns, with the query if it can express the whole set."""
    counts, name = counted.aggregation, toolset.source
    if not counted.total or not counted.is_counted or counts is None:
        return None
    if counted is not search.found or name is None or search.theme or search.tool == "get":
        return counts
    where: tuple[Condition, ...] = (*toolset.base, *search.conditions)
    query = search.result.query if search.result else Query(source=name, where=where, text=search.words)
    result = search.result
    numbers = reckoned(result) if result is not None and not result.query.asks_for_rows else {}
    groups, columns = (numbers.get(name, []) for name in ("groups", "columns"))
    said = sentence(search, toolset.today)
    return counts.model_copy(update={"query": query, "sentence": said, "groups": groups, "columns": columns})


def _end_reason(toolset: CampaignToolset) -> EndReason:
    if toolset.searches and not any(search.found.total for search in toolset.searches):
        return "nothing_found"
    budget = toolset.run.budget
    spent = budget.turns >= budget.max_turns or not budget.calls_left or not budget.seconds_for_work
    return "budget_spent" if toolset.run.chat is not None and spent else "answered"


# ---- named campaigns, and what to ask next ----


def _own_questions(question: str, written: WrittenAnswer | None) -> list[str]:
    """What the model says can be asked next, in the language of the question."""
    own = written.followups if written is not None else []
    return [each for each in own if is_likely_english(each) == is_likely_english(question)]


def suggest(question: str, found: CampaignSet, values: KnownValues) -> list[str]:
    """Suggested questions that the data can answer and that were not just asked: about this set first, then about all. They are
    in English, so that a question in another language has none.
    """
    if not values or not is_likely_english(question):
        return []
    own = set(significant_words(question))
    counts = found.counts if found.total else {}
    company, channel = _first(counts, "company"), _first(counts, "channel")
    sentiment, value_prop = _first(counts, "sentiment"), _first(counts, "value_prop")
    offers, other_channel = _first(counts, "offer"), _known(values, "channel")
    wanted: Iterable[tuple[bool, str]] = (
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
            bool(_known(values, "value_prop")),
            gettext("Which value propositions are most common for {company}?", company=_known(values, "company")),
        ),
        (True, gettext("Which companies have the most campaigns?")),
    )
    offered = dict.fromkeys(text for holds, text in wanted if holds and not own.issuperset(significant_words(text)))
    return list(offered)[:SUGGESTIONS]


def campaigns_spoken_of(answer: str, sets: Sequence[CampaignSet]) -> list[Campaign]:
    """The campaigns of these sets that `answer` names: by id, or by a brand or company of which it gives no id. If it names none,
    all of the first set.
    """
    found = {campaign.id: campaign for each in sets for campaign in each.campaigns}
    text = f" {plain(answer)} "
    chosen = {id for id in found if re.search(rf"(?<![\w-]){re.escape(id)}(?![\w-])", answer)}
    names_of = (
        {id: plain(campaign.brand or "") for id, campaign in found.items()},
        {id: plain(campaign.company) for id, campaign in found.items()},
    )
    for names in names_of:
        names_shown = {names[id] for id in chosen}
        chosen |= {id for id, name in names.items() if name and name not in names_shown and f" {name} " in text}
    return [found[id] for id in found if id in chosen] or (list(sets[0].campaigns) if sets else [])


def _first(counts: Mapping[str, Mapping[str, int]], field: str) -> str | None:
    return next(filter(None, counts.get(field, {})), None)


def _known(values: KnownValues, field: str) -> str | None:
    return next(iter(values.by_filter.get(field, ())), None)
