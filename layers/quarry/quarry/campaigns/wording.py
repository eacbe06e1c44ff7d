"""What is said of campaigns: the result of every tool as a text for the model, the Markdown of an answer without one. Pure."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from quarry.campaigns.conditions import COUNTED, NAME, PHRASES, CampaignSet, Question, Search
from quarry.campaigns.contract import Campaign
from quarry.campaigns.facets import CAMPAIGNS
from quarry.language.messages import gettext, gettext_noop, ngettext
from quarry.language.writing import NO_VALUE, listed_label
from quarry.platform.text import fence, shorten
from quarry.query.contract import Verdict
from quarry.query.describe import UNREAD_MAX, as_read, describe, how_read, lines_of, with_list
from quarry.schema.algebra import Aggregate, Query, Result

SUMMARY_CHARACTERS_MAX = 8000
SUMMARIZED_CAMPAIGNS = 20
COPY_CHARACTERS_MAX = 220
WHOLE_COPIES_MAX = 10
"""A set of so many is shown with its whole copy, as far as there is room."""
BESIDE_COPY_CHARACTERS = 450
"""Characters of a campaign beside its copy."""
SUMMARIZED_VALUES = 8


@dataclass(frozen=True)
class CampaignToolResult:
    """`count` is the size of the set, `campaigns` its first ones; `summary_for_llm` has at most SUMMARY_CHARACTERS_MAX."""

    count: int
    summary_for_llm: str
    campaigns: tuple[Campaign, ...] = ()

    def numbered(self, name: str) -> CampaignToolResult:
        """The result with the name by which the answer can say that it rests on it."""
        end = f"\n(Result {name})"
        return replace(self, summary_for_llm=self.summary_for_llm[: SUMMARY_CHARACTERS_MAX - len(end)] + end)

    def as_json(self) -> str:
        """As JSON for the model. The campaigns are only named, since the summary describes them."""
        summaries = [_identity(campaign) for campaign in self.campaigns[:SUMMARIZED_CAMPAIGNS]]
        return json.dumps(
            {"count": self.count, "summary_for_llm": self.summary_for_llm, "campaigns": summaries}, ensure_ascii=False
        )


def build_tool_result(found: CampaignSet, lines: Sequence[str] = (), *, is_listed: bool = True) -> CampaignToolResult:
    """The result for a set of campaigns, `lines` first. Texts of advertisers stand in fenced blocks, as data. Without
    `is_listed`, only the lines are shown.
    """
    if not found.total:
        return CampaignToolResult(0, ("\n".join(lines) or gettext("No campaign matches."))[:SUMMARY_CHARACTERS_MAX])
    head = "\n".join([*lines, *([_size(found), *_counts(found)] if is_listed else [])])
    room = SUMMARY_CHARACTERS_MAX - len(head)
    blocks: list[str] = []
    shown = found.campaigns[:SUMMARIZED_CAMPAIGNS] if is_listed else ()
    whole = room // len(shown) - BESIDE_COPY_CHARACTERS if 0 < len(shown) == found.total <= WHOLE_COPIES_MAX else 0
    for campaign in shown:
        block = _block(campaign, max(whole, COPY_CHARACTERS_MAX))
        room -= len(block) + 1
        if room < 0:
            break
        blocks.append(block)
    return CampaignToolResult(found.total, "\n".join([head, *blocks])[:SUMMARY_CHARACTERS_MAX], found.campaigns)


def summarise_groups(groups: Result, by: str, limit: int, *, is_listed: bool) -> str:
    """Groups of campaigns in a line: their number; if listed, also the first groups, the one without a value, and the rest, which
    add up to the total.
    """
    valued = [row for row in groups.rows if row[0] is not None and row[1]]
    number = groups.groups - (len(groups.rows) - len(valued))
    if not is_listed:
        return f"{number} different values of {by} among {groups.total} campaigns, exactly."
    shown = [*valued[:limit], *(row for row in groups.rows if row[0] is None)]
    listed = [f"{fence(shorten(str(value or NO_VALUE), 80))} ({count})" for value, count in shown]
    others = groups.grouped - sum(int(str(count)) for _, count in shown)
    if others:
        listed.append(f"all others ({others})")
    overlap = " A campaign can have several." if groups.grouped > groups.total else ""
    which = "the first" if others else "all"
    return f"{which} of {number} values of {by} among {groups.total} campaigns, exactly: {'; '.join(listed)}.{overlap}"


def line_for_people(found: CampaignSet) -> str:
    """A line about a set for users."""
    if not found.total:
        return gettext("No campaign found")
    named = list(dict.fromkeys(campaign.brand or campaign.company for campaign in found.campaigns))[:3]
    more = " …" if found.total > len(named) else ""
    size = ngettext("{number} campaign", "{number} campaigns", found.total)
    if found.more:
        size = ngettext("At least {number} campaign", "At least {number} campaigns", found.total)
    return f"{size}: {', '.join(named)}{more}"


def _size(found: CampaignSet) -> str:
    shown = min(len(found.campaigns), SUMMARIZED_CAMPAIGNS)
    first = f" The first {shown} follow." if found.total > shown else ""
    counted = "The counts are exact, over all of them."
    if not found.is_counted:
        counted = "There are too many to count their values; filter them."
    return f"{found.size.capitalize()} campaigns. {counted}{first}"


def _counts(found: CampaignSet) -> Iterable[str]:
    for name in COUNTED:
        counts = found.counts.get(name) or {}
        listed = [
            f"{fence(shorten(value, 80)) if value else NO_VALUE} ({count})"
            for value, count in list(counts.items())[:SUMMARIZED_VALUES]
        ]
        rest = sum(list(counts.values())[SUMMARIZED_VALUES:]) + found.others.get(name, 0)
        if rest:
            listed.append(f"all others ({rest})")
        if listed:
            yield f"{CAMPAIGNS.facets[name].plural.capitalize()}: {'; '.join(listed)}"


def _identity(campaign: Campaign) -> dict[str, str]:
    facts = {"id": campaign.id, "company": campaign.company, "brand": campaign.brand}
    return {name: fence(value) for name, value in facts.items() if value}


def _block(campaign: Campaign, copy_max: int) -> str:
    # all of the copy where there is room for more than its beginning
    has_room = copy_max > COPY_CHARACTERS_MAX
    copy = (campaign.full_campaign_text if has_room else None) or campaign.campaign_text
    facts = {
        "Company": campaign.company,
        "Brand": campaign.brand,
        "Channel": campaign.channel,
        "Offer": campaign.offer or "none",
        "Value props": ", ".join(campaign.key_value_props),
        "Sentiment": campaign.imagery_sentiment,
        "Visual style": campaign.imagery_visual_style,
        "Captured": campaign.capture_date.isoformat() if campaign.capture_date else None,
        "Copy": shorten(copy, copy_max),
    }
    line = " | ".join(f"{label}: {fence(value)}" for label, value in facts.items() if value)
    return f'<campaign id="{fence(campaign.id)}">\n{line}\n</campaign>'


LISTED_CAMPAIGNS = 5
COSTS_MAX = 3
COPY_CHARACTERS = 140
EMPTY = gettext_noop("There are no campaigns.")


def answer(question: Question, search: Search, costs: Sequence[tuple[str, int]], today: datetime.date) -> str:
    """The text of the answer, the result first. An exact one ends in how the question was read. `costs` are the labels of
    conditions, each with the number of campaigns without it.
    """
    result = search.result
    if result is None and not (question.is_list and (search.found.total or question.verdict != "refused")):
        return _unanswerable(question.unread)
    if result is None:
        before = [*(_theme(search, question.verdict) if search.theme else _by_words(question, search))]
        rows = _campaigns(search.found)
        return "\n".join([*before, *with_list(sentence(search, today), [*_costs(costs), *rows])])
    rows = _campaigns(search.found) if result.query.asks_for_rows else lines_of(result, PHRASES)
    read = as_read(how_read(result.query, PHRASES.schema, today), question.unread, PHRASES)
    return "\n".join([*_by_words(question, search), *with_list(result.sentence, [*_costs(costs), *rows]), "", read])


def sentence(search: Search, today: datetime.date) -> str:
    """The result of a search in a sentence."""
    if search.result is not None:
        return search.result.sentence
    found = search.found
    query = Query(source=NAME, where=search.conditions, aggregate=(Aggregate(fn="count"),), text=search.words)
    sentence_ = describe(query, Result([], [[found.total]], found.total, False), PHRASES.schema, today).sentence
    return gettext("At least {sentence}", sentence=sentence_) if found.more else sentence_


def _unanswerable(unread: Sequence[str]) -> str:
    words = [gettext("“{text}”", text=each) for each in unread[:UNREAD_MAX]]
    labels = ", ".join(each.label for each in PHRASES.source.fields.values())
    text = gettext("This is not in the data.")
    if words:
        text = gettext("This is not in the data: {words}.", words=listed_label(words, is_choice=False))
    known = gettext("The data has, for each campaign, {labels} and the copy.", labels=labels)
    return f"{text} {known}"


def _theme(search: Search, verdict: Verdict) -> Iterator[str]:
    """Says how near the campaigns are to a theme."""
    theme, found = search.theme, search.found
    if verdict == "refused":
        yield gettext("This is not in the data as such. The nearest campaigns:")
    elif not found.total:
        yield gettext("No campaign comes near “{theme}”:", theme=theme)
    elif found.is_near_only:
        yield gettext("No copy says “{theme}”. The nearest in meaning:", theme=theme)
    else:
        yield gettext("About “{theme}”:", theme=theme)
    yield ""


def _by_words(question: Question, search: Search) -> Iterator[str]:
    """That values which the data does not have were looked for in the copy."""
    denied = ", ".join(gettext("“{text}”", text=each) for each in question.vetoes[:UNREAD_MAX])
    if search.words and denied:
        yield gettext("This is not in the data as a value: {words}. By the words of the copy:", words=denied)
        yield ""


def _costs(costs: Sequence[tuple[str, int]]) -> Iterator[str]:
    for label, number in costs[:COSTS_MAX]:
        found = ngettext(
            "without “{label}”: {number} campaign", "without “{label}”: {number} campaigns", number, label=label
        )
        yield f"- {found}"


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
