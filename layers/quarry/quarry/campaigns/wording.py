"""The Markdown of an answer about campaigns without a model. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quarry.campaigns.conditions import NAME, PHRASES
from quarry.campaigns.contract import Campaign
from quarry.campaigns.results import CampaignSet, Search
from quarry.platform.text import shorten
from quarry.query.algebra import Aggregate, Query, Result
from quarry.query.describe import UNREAD_MAX, as_read, describe, how_read, lines_of, with_list

LISTED_CAMPAIGNS = 5
COSTS_MAX = 3
COPY_CHARACTERS = 140
EMPTY = "There are no campaigns."


@dataclass(frozen=True)
class Findings:
    """A question as read, and what was found. `is_refused`: the data probably does not answer it. `costs` are the labels of
    conditions, each with the number of campaigns without it.
    """

    query: Query
    search: Search
    is_refused: bool = False
    unread: Sequence[str] = ()
    vetoes: Sequence[str] = ()
    costs: Sequence[tuple[str, int]] = ()


def answer(findings: Findings, today: datetime.date) -> str:
    """The text of the answer, the result first. An exact one ends in how the question was read."""
    search, result = findings.search, findings.search.result
    is_list = findings.query.asks_for_rows and not findings.query.order
    if result is None and not (is_list and (search.found.total or not findings.is_refused)):
        return _unanswerable(findings)
    if result is None:
        before = [*(_theme(findings) if search.theme else _by_words(findings))]
        return "\n".join([*before, *with_list(sentence(search, today), [*_costs(findings), *_campaigns(search.found)])])
    rows = _campaigns(search.found) if result.query.asks_for_rows else lines_of(result, PHRASES)
    read = as_read(how_read(result.query, PHRASES.schema, today), findings.unread, PHRASES)
    return "\n".join([*_by_words(findings), *with_list(result.sentence, [*_costs(findings), *rows]), "", read])


def sentence(search: Search, today: datetime.date) -> str:
    """The result of a search in a sentence."""
    if search.result is not None:
        return search.result.sentence
    found = search.found
    query = Query(source=NAME, where=search.conditions, aggregate=(Aggregate(fn="count"),), text=search.words)
    sentence_ = describe(query, Result([], [[found.total]], found.total, False), PHRASES.schema, today).sentence
    return f"At least {sentence_}" if found.more else sentence_


def _unanswerable(findings: Findings) -> str:
    words = " and ".join(f"“{each}”" for each in findings.unread[:UNREAD_MAX])
    labels = ", ".join(each.label for each in PHRASES.source.fields.values())
    return f"This is not in the data{f': {words}' if words else ''}. The data has, for each campaign, {labels} and the copy."


def _theme(findings: Findings) -> Iterator[str]:
    """Says how near the campaigns are to a theme."""
    theme, found = findings.search.theme, findings.search.found
    if not theme:
        return
    if findings.is_refused:
        yield "This is not in the data as such. The nearest campaigns:"
    elif not found.total:
        yield f"No campaign comes near “{theme}”:"
    elif found.is_near_only:
        yield f"No copy says “{theme}”. The nearest in meaning:"
    else:
        yield f"About “{theme}”:"
    yield ""


def _by_words(findings: Findings) -> Iterator[str]:
    """That values which the data does not have were looked for in the copy."""
    denied = ", ".join(f"“{each}”" for each in findings.vetoes[:UNREAD_MAX])
    if findings.search.words and denied:
        yield f"This is not in the data as a value: {denied}. By the words of the copy:"
        yield ""


def _costs(findings: Findings) -> Iterator[str]:
    for label, number in findings.costs[:COSTS_MAX]:
        yield f"- without “{label}”: {number:,} campaign{'' if number == 1 else 's'}"


def _campaigns(found: CampaignSet) -> Iterator[str]:
    for campaign in found.campaigns[:LISTED_CAMPAIGNS]:
        gist = campaign.offer or shorten(campaign.campaign_text, COPY_CHARACTERS)
        yield f"- **{_name(campaign)}** ({_facts(campaign)}): {gist}"


def _facts(campaign: Campaign) -> str:
    day = PHRASES.writing.date(campaign.capture_date) if campaign.capture_date else None
    return ", ".join(filter(None, (campaign.channel, campaign.imagery_sentiment, day)))


def _name(campaign: Campaign) -> str:
    if campaign.brand and campaign.brand != campaign.company:
        return f"{campaign.brand}, {campaign.company}"
    return campaign.company
