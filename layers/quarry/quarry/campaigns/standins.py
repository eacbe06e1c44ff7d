"""What we say about campaigns when no model does, and what an answer speaks of, whoever wrote it."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from quarry.campaigns.contract import Campaign, CampaignFilters, DateRange
from quarry.campaigns.filters import UnknownValue, plain
from quarry.campaigns.found import CampaignSet, KnownValues
from quarry.campaigns.router import Asked, Routed
from quarry.core.text import shorten

LISTED_CAMPAIGNS = 5
LISTED_OFFERS = 10
LISTED_VALUES = 6
SUGGESTIONS = 3
COPY_CHARACTERS = 140

_FIELDS: Mapping[Asked, tuple[str, str]] = {
    "value_prop": ("value proposition", "value propositions"),
    "sentiment": ("sentiment", "sentiments"),
    "visual_style": ("visual style", "visual styles"),
    "channel": ("channel", "channels"),
    "company": ("company", "companies"),
    "brand": ("brand", "brands"),
    "offer": ("offer", "offers"),
}


def compose_answer(routed: Routed, found: CampaignSet) -> str:
    """A plain answer in Markdown: what was asked, exactly as counted over the whole set."""
    about = describe(routed)
    if not found.total:
        return f"No campaign {about.strip()} was found." if about else "There are no campaigns."
    if found.more and routed.asked not in ("campaigns", "count"):
        return f"These are {_size(found)}{about}, too many to be counted by their words. Narrow them down, by channel or company."
    match routed.asked:
        case "count":
            return _count_answer(about, found)
        case "offer" if not routed.most_common:
            return _offers_answer(about, found)
        case "campaigns":
            return _campaigns_answer(about, found)
        case field:
            return _values_answer(field, about, found)


def unknown_answer(unknown: Sequence[UnknownValue]) -> str:
    """What to say when the question names values that do not exist."""
    return " ".join(str(each) for each in unknown)


def describe(routed: Routed) -> str:
    """The set that was asked for, in words that follow "campaigns"."""
    filters = routed.filters
    parts = [
        _listed("by", [*filters.brand, *filters.company]),
        _listed("on", filters.channel),
        _listed("promising", filters.value_prop),
        _listed("with the sentiment", filters.sentiment),
        _listed("in the style", filters.visual_style),
        {True: "with an offer", False: "without an offer", None: ""}[filters.has_offer],
        words_of(filters.date_range),
        _searched(routed),
    ]
    return "".join(f" {part}" for part in parts if part)


def words_of(period: DateRange | Literal["recent"] | None) -> str:
    """A range of days in words."""
    if period is None:
        return ""
    if period == "recent":
        return "captured in the latest 90 days"
    start, end = period.from_date, period.to_date
    if start and end:
        return f"captured from {_day(start)} to {_day(end)}"
    return f"captured since {_day(start)}" if start else f"captured until {_day(end)}" if end else ""


def suggest(routed: Routed, found: CampaignSet, known: KnownValues) -> list[str]:
    """Questions to ask next that the data can answer: about this set first, then about all campaigns."""
    counts = found.counts if found.total else {}
    company, channel = _first(counts, "company"), _first(counts, "channel")
    sentiment, value_prop = _first(counts, "sentiment"), _first(counts, "value_prop")
    wanted: Iterable[tuple[bool, str]] = (
        (bool(company) and routed.asked != "offer", f"What are the offers from {company} campaigns?"),
        (bool(channel), f"Which value propositions are most common on {channel}?"),
        (bool(value_prop) and routed.asked != "count", f"How many campaigns promise {value_prop}?"),
        (bool(sentiment), f"Show me {sentiment} campaigns with an offer"),
        (bool(company), f"What sentiment do {company} campaigns have?"),
        (True, f"How many campaigns ran on {_known(known, 'channel')}?"),
        (True, f"What are the most common value propositions of {_known(known, 'company')}?"),
        (True, "Which sentiments are most common?"),
    )
    texts = [text for holds, text in wanted if holds and " None" not in text]
    return list(dict.fromkeys(texts))[:SUGGESTIONS] if known else []


def campaigns_spoken_of(answer: str, found: CampaignSet) -> list[Campaign]:
    """The campaigns that `answer` speaks of: those whose id it gives; else, unless it gives the number of the whole set, those
    whose brand or company it names; else all.
    """
    said = set(_ID.findall(answer))
    by_id = [campaign for campaign in found.campaigns if _is_said(campaign.id, said, answer)]
    if by_id or re.search(rf"(?<![\d.,]){found.total}(?![\d]|[.,]\d)", answer):
        return by_id or list(found.campaigns)
    text = f" {plain(answer)} "
    named = [
        campaign
        for campaign in found.campaigns
        if any(f" {plain(name)} " in text for name in (campaign.brand, campaign.company) if name)
    ]
    return named or list(found.campaigns)


_ID = re.compile(r"[\w-]+")


def _is_said(id: str, said: Collection[str], answer: str) -> bool:
    """Whether an answer, of whose words and ids most are in `said`, holds this one by itself."""
    if _ID.fullmatch(id):
        return id in said
    return re.search(rf"(?<![\w-]){re.escape(id)}(?![\w-])", answer) is not None


def _count_answer(about: str, found: CampaignSet) -> str:
    verb, noun = ("is", "campaign") if found.total == 1 else ("are", "campaigns")
    lines = [f"There {verb} **{found.size}** {noun}{about}."]
    for field in ("channel", "sentiment"):
        values = found.counts.get(field, {})
        if len(values) > 1:
            lines.append(f"By {_FIELDS[field][0]}: {_with_counts(values)}.")
    return "\n\n".join(lines)


def _offers_answer(about: str, found: CampaignSet) -> str:
    making = [campaign for campaign in found.campaigns if campaign.offer]
    if not making:
        return f"None of the {_size(found)}{about} makes an offer."
    makes = sum(found.counts.get("offer", {}).values())
    listed = [f"- **{_name(campaign)}** ({campaign.channel}): {campaign.offer}" for campaign in making[:LISTED_OFFERS]]
    head = f"{makes} of the {_size(found)}{about} make{'s' if makes == 1 else ''} an offer:"
    more = [f"and {makes - len(listed)} more."] if makes > len(listed) else []
    return "\n".join([head, "", *listed, *([""] if more else []), *more])


def _values_answer(field: Asked, about: str, found: CampaignSet) -> str:
    values = found.counts.get(field, {})
    one, many = _FIELDS[field]
    if not values:
        return f"The {_size(found)}{about} have no {one}."
    if len(values) == 1:
        [(value, count)] = values.items()
        has = "has" if count == 1 else "have"
        return f"Of the {_size(found)}{about}, {count} {has} the {one} **{value}**; there is no other."
    return f"The most common {many} of the {_size(found)}{about}: {_with_counts(values)}."


def _campaigns_answer(about: str, found: CampaignSet) -> str:
    shown = found.campaigns[:LISTED_CAMPAIGNS]
    lines = [f"- **{_name(campaign)}** ({_facts(campaign)}): {_gist(campaign)}" for campaign in shown]
    noun = "campaign" if found.total == 1 else "campaigns"
    head = f"{found.size} {noun}{about}" + (f"; the first {len(shown)}:" if found.total > len(shown) else ":")
    return "\n".join([head[:1].upper() + head[1:], "", *lines])


def _gist(campaign: Campaign) -> str:
    return campaign.offer or shorten(campaign.campaign_text, COPY_CHARACTERS)


def _facts(campaign: Campaign) -> str:
    month = f"{campaign.capture_date:%B %Y}" if campaign.capture_date else None
    return ", ".join(filter(None, (campaign.channel, campaign.imagery_sentiment, month)))


def _name(campaign: Campaign) -> str:
    if campaign.brand and campaign.brand != campaign.company:
        return f"{campaign.brand}, {campaign.company}"
    return campaign.company


def _with_counts(values: Mapping[str, int]) -> str:
    listed = [f"{value} ({count})" for value, count in list(values.items())[:LISTED_VALUES]]
    return ", ".join(listed) + (f" and {len(values) - len(listed)} more" if len(values) > len(listed) else "")


def _size(found: CampaignSet) -> str:
    return f"{found.size} campaign{'' if found.total == 1 else 's'}"


def _searched(routed: Routed) -> str:
    match routed.route:
        case "full_text_search":
            return f"saying {routed.query if chr(34) in routed.query else f'“{routed.query}”'}"
        case "semantic_search":
            return f"about {routed.query}"
        case _:
            return ""


def _listed(preposition: str, values: Sequence[str]) -> str:
    if not values:
        return ""
    return f"{preposition} {' or '.join([', '.join(values[:-1]), values[-1]] if len(values) > 1 else values)}"


def _first(counts: Mapping[str, Mapping[str, int]], field: str) -> str | None:
    return next(iter(counts.get(field, {})), None)


def _known(known: KnownValues, field: str) -> str | None:
    return next(iter(known.by_filter.get(field, ())), None)


def _day(day: datetime.date) -> str:
    return f"{day.day} {day:%B %Y}"


def detected(filters: CampaignFilters, base: CampaignFilters) -> dict[str, object]:
    """The filters that the question was taken to mean, with those that held in every search."""
    return base.given() | filters.given()
