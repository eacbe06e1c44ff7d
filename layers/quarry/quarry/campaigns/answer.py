"""The whole answer: the campaigns that it speaks of, how they were found, and what to ask next."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from quarry.agent.asked_query import query_for
from quarry.campaigns import fallbacks
from quarry.campaigns.conditions import NAME, conditions_of, label_of
from quarry.campaigns.contract import (
    Aggregation,
    Campaign,
    ChatRequest,
    ChatResponse,
    EndReason,
    FoundCampaign,
    Telemetry,
)
from quarry.campaigns.execution import as_asked, said_by_copy
from quarry.campaigns.facets import CAMPAIGNS
from quarry.campaigns.filters import filters_of
from quarry.campaigns.reading import CampaignQuestion, as_searched, clauses_to_tell, constraints_of
from quarry.campaigns.results import NOTHING, CampaignSet, KnownValues, Outcome, Search, aggregate
from quarry.campaigns.retrieval import standings
from quarry.campaigns.tools import STEP, CampaignToolset
from quarry.platform.errors import DatabaseUnavailable
from quarry.platform.off_loop import off_loop
from quarry.platform.text import significant_words
from quarry.retrieval.named_values import plain
from quarry.runs.run_log import ResultRecord
from quarry.spans.question import Ask, Clause, Question

RECORDED_RESULTS = 50
SUGGESTIONS = 3


async def conclude(
    request: ChatRequest,
    toolset: CampaignToolset,
    asked: CampaignQuestion,
    outcome: Outcome | None,
    text: str,
    unsupported: list[str],
) -> ChatResponse:
    """The whole answer, each campaign with what it meets and misses; what it shows and why it ended goes into the run. Where
    there is an `outcome`, the answer ends in what was composed of it.
    """
    asked, spoken_of = await off_loop(_understood, toolset, asked, outcome, text)
    response = _response(request, toolset, asked, outcome, text, spoken_of)
    response.unsupported = unsupported
    if response.aggregation is not None:
        response.aggregation = await _with_query(response.aggregation, toolset, asked, outcome, spoken_of)
    if request.constraints is not None:
        response.constraints.evidence = request.constraints.evidence
    clauses = clauses_to_tell(asked, toolset.base)
    if not clauses or not response.campaigns:
        return response
    try:
        ids = [campaign.id for campaign in response.campaigns]
        met = await standings(toolset.services.reader, conditions_of(clauses), ids)
    except DatabaseUnavailable:
        toolset.run.degrade(STEP)
        return response
    labels = [*map(label_of, clauses)]
    for campaign in response.campaigns:
        own = list(zip(labels, met.get(campaign.id, ()), strict=False))
        campaign.meets = [label for label, is_met in own if is_met]
        campaign.misses = [label for label, is_met in own if not is_met]
    return response


async def _with_query(
    counts: Aggregation,
    toolset: CampaignToolset,
    asked: CampaignQuestion,
    outcome: Outcome | None,
    spoken_of: Sequence[Campaign],
) -> Aggregation:
    """The counts with the query for what was found, and what came of it in words; as they are where the answer speaks of a part
    of that, or no query says it.
    """
    search = toolset.last_found
    if outcome is None:
        if search is None or search.theme or not _is_whole(search.found, spoken_of):
            return counts
        if search.result is not None:
            return counts.model_copy(update={"query": search.result.query, "sentence": search.result.sentence})
        clauses = (*toolset.base, *search.clauses, *said_by_copy(search.words))
        outcome = Outcome(CampaignQuestion(Question(asked.question.text), clauses), search.found, clauses)
    question = as_asked(outcome, toolset.base)
    query = question and await query_for(NAME, CAMPAIGNS.name, question, toolset.caller, toolset.services)
    return counts.model_copy(update={"query": query, "sentence": fallbacks.told(outcome)}) if query else counts


def _is_whole(found: CampaignSet, spoken_of: Sequence[Campaign]) -> bool:
    return [each.id for each in spoken_of] == [each.id for each in found.campaigns]


def _understood(
    toolset: CampaignToolset, asked: CampaignQuestion, outcome: Outcome | None, text: str
) -> tuple[CampaignQuestion, list[Campaign]]:
    """The question as it was answered, and the campaigns that the answer speaks of. Of a model's answer its searches say both."""
    if outcome is not None:
        limit = asked.ask.limit if asked.ask.kind == "rows" else None
        return asked, list(outcome.found.campaigns[:limit])
    last = toolset.last_found
    if last is None:
        return asked, []
    searches = [last, *(search for search in reversed(toolset.searches) if search is not last)]
    spoken_of = campaigns_spoken_of(text, [search.found for search in searches])
    return _as_answered(asked, _found_by(searches, spoken_of), toolset.preferred), spoken_of


def _found_by(searches: Sequence[Search], campaigns: Sequence[Campaign]) -> list[Search]:
    """The first of the searches that found all of the campaigns; where none did, those that found some."""
    ids = {campaign.id for campaign in campaigns}
    held = [(search, len(ids.intersection(each.id for each in search.found.campaigns))) for search in searches]
    whole = [search for search, count in held if count == len(ids)]
    return whole[:1] or [search for search, count in held if count]


def _as_answered(
    asked: CampaignQuestion, searches: Sequence[Search], preferred: tuple[Clause, ...]
) -> CampaignQuestion:
    """The question as a model understood it: by what all these searches have in common."""
    first, *others = searches
    shared = [clause for clause in first.clauses if all(clause in each.clauses for each in others)]
    theme, words = ("", "") if others else (first.theme, first.words)
    return as_searched(asked, shared, theme, words, preferred)


def _response(
    request: ChatRequest,
    toolset: CampaignToolset,
    asked: CampaignQuestion,
    outcome: Outcome | None,
    text: str,
    spoken_of: Sequence[Campaign],
) -> ChatResponse:
    run, search = toolset.run, toolset.last_found
    found = search.found if search else NOTHING
    whole = _is_whole(found, spoken_of)
    run.results = results_of(spoken_of)
    end_reason = _end_reason(toolset)
    run.end_reason = end_reason
    detected = filters_of(asked.clauses, toolset.known.latest)
    return ChatResponse(
        response=text,
        campaigns=[FoundCampaign.model_validate(campaign.model_dump()) for campaign in spoken_of],
        total=found.total if whole or outcome else len(spoken_of),
        more=found.more and (whole or outcome is not None),
        aggregation=(found.aggregation if whole else aggregate(spoken_of))
        if found.total and (found.is_counted or not whole)
        else None,
        suggestions=suggest(request.message, asked.ask, found, toolset.known),
        detected_filters=request.base_filters.given() | detected.given(),
        constraints=constraints_of(asked, toolset.base),
        telemetry=Telemetry(
            run_id=str(run.id),
            turn_count=run.budget.turns,
            tool_call_count=run.budget.calls,
            end_reason=end_reason,
            degraded_steps=run.degraded,
        ),
    )


def _end_reason(toolset: CampaignToolset) -> EndReason:
    if toolset.searches and not any(search.found.total for search in toolset.searches):
        return "nothing_found"
    budget = toolset.run.budget
    spent = budget.turns >= budget.max_turns or not budget.calls_left or not budget.seconds_for_work
    return "budget_spent" if toolset.run.chat is not None and spent else "answered"


def results_of(campaigns: Sequence[Campaign]) -> list[ResultRecord]:
    """The first campaigns as results of a run; their score is the inverse of their place."""
    return [
        ResultRecord("campaign", campaign.id, 1.0 / place)
        for place, campaign in enumerate(campaigns[:RECORDED_RESULTS], start=1)
    ]


# ---- what it speaks of, and what to ask next ----


def suggest(question: str, asked: Ask, found: CampaignSet, known: KnownValues) -> list[str]:
    """What to ask next: questions that the data can answer and that were not just asked, about this set first, then about all."""
    own = set(significant_words(question))
    counts = found.counts if found.total else {}
    company, channel = _first(counts, "company"), _first(counts, "channel")
    sentiment, value_prop = _first(counts, "sentiment"), _first(counts, "value_prop")
    offers, other_channel = _first(counts, "offer"), _known(known, "channel")
    wanted: Iterable[tuple[bool, str]] = (
        (bool(company and offers) and asked.facet != "offer", f"What are the offers from {company} campaigns?"),
        (bool(channel and value_prop), f"Which value propositions are most common on {channel}?"),
        (bool(value_prop) and asked.kind != "count", f"How many campaigns promise {value_prop}?"),
        (bool(sentiment and offers), f"Show me {sentiment} campaigns with an offer"),
        (bool(company and sentiment), f"What sentiment do {company} campaigns have?"),
        (bool(company), f"Which channels does {company} use?"),
        (bool(other_channel), f"How many campaigns ran on {other_channel}?"),
        (
            bool(_known(known, "value_prop")),
            f"Which value propositions are most common for {_known(known, 'company')}?",
        ),
        (True, "Which companies have the most campaigns?"),
    )
    offered = dict.fromkeys(text for holds, text in wanted if holds and not own.issuperset(significant_words(text)))
    return list(offered)[:SUGGESTIONS] if known else []


def campaigns_spoken_of(answer: str, sets: Sequence[CampaignSet]) -> list[Campaign]:
    """The campaigns of these sets that `answer` speaks of: those whose id it gives, and those whose brand, or else company, it
    names without giving the id of one of them; where it speaks of none, all of the first set.
    """
    found = {campaign.id: campaign for each in sets for campaign in each.campaigns}
    said, text = set(_ID.findall(answer)), f" {plain(answer)} "
    chosen = {id for id in found if _is_said(id, said, answer)}
    for name_of in (_brand_of, _company_of):
        told = {name_of(found[id]) for id in chosen}
        chosen |= {
            id
            for id, campaign in found.items()
            if (name := name_of(campaign)) and name not in told and f" {name} " in text
        }
    return [found[id] for id in found if id in chosen] or (list(sets[0].campaigns) if sets else [])


def _brand_of(campaign: Campaign) -> str:
    return plain(campaign.brand or "")


def _company_of(campaign: Campaign) -> str:
    return plain(campaign.company)


_ID = re.compile(r"[\w-]+")


def _is_said(id: str, said: Collection[str], answer: str) -> bool:
    """Whether an answer, of whose words and ids most are in `said`, holds this one by itself."""
    if _ID.fullmatch(id):
        return id in said
    return re.search(rf"(?<![\w-]){re.escape(id)}(?![\w-])", answer) is not None


def _first(counts: Mapping[str, Mapping[str, int]], field: str) -> str | None:
    return next(filter(None, counts.get(field, {})), None)


def _known(known: KnownValues, field: str) -> str | None:
    return next(iter(known.by_filter.get(field, ())), None)
