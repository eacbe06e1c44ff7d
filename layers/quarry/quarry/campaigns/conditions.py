"""Conditions on campaigns, what a search by them came to, and both in words: for a model, and as Markdown. Pure."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from quarry.campaigns.contract import (
    AGGREGATED,
    FILTER_VALUES,
    Aggregation,
    Campaign,
    CampaignFilters,
    DateRange,
    ExcludedValues,
)
from quarry.campaigns.sources import CAMPAIGNS, PREDICATES, SOURCES
from quarry.language.messages import gettext, gettext_noop, ngettext
from quarry.language.writing import NO_VALUE, listed_label
from quarry.platform.contract import Evidence
from quarry.platform.text import fence, shorten
from quarry.query.contract import QueryResult, Verdict
from quarry.query.describe import UNREAD_MAX, affirmed, as_read, describe, how_read, lines_of, with_list
from quarry.query.phrases import Phrases
from quarry.query.values import DAY, interval_of
from quarry.schema.algebra import Aggregate, Comparison, Condition, Not, Query, Result, comparisons_of
from quarry.schema.source import EXPLAINED_VALUES, NamedValue, Schema, UnknownValue, nearest

Counts = Mapping[str, int]

COUNTED_FIELDS = (*FILTER_VALUES, "offer")
"""The fields whose values are counted for each set."""

AGGREGATED_VALUES_MAX = 1_000
"""A set with more different values of a field has no aggregation."""


@dataclass(frozen=True)
class CampaignSet:
    """The result of a search: the first campaigns, and counts over all of them.

    With `more`, `total` is a lower bound. `has_counts` is false if there are too many campaigns to count the values of fields.
    """

    total: int
    campaigns: tuple[Campaign, ...]
    counts: Mapping[str, Counts] = field(default_factory=dict)
    """By field of COUNTED_FIELDS: campaigns for each value, most first. Fields in AGGREGATED have all values, up to
    AGGREGATED_VALUES_MAX; the others only the first ones. The empty value, last, stands for campaigns without one.
    """
    others: Counts = field(default_factory=dict)
    """By field: campaigns with values that `counts` leaves out."""

    more: bool = False
    has_counts: bool = True
    is_near_only: bool = False
    """Whether they are near a theme in meaning alone, without any of its words."""

    @property
    def size(self) -> str:
        """The number of campaigns in words: "at least 10,000"."""
        return f"at least {self.total:,}" if self.more else str(self.total)

    @property
    def aggregation(self) -> Aggregation | None:
        """The counts of all values; None if there are too many."""
        counts = {name: dict(self.counts.get(name, {})) for name in AGGREGATED}
        if any(len(values) > AGGREGATED_VALUES_MAX for values in counts.values()):
            return None
        return Aggregation.model_validate(counts)


NOTHING = CampaignSet(0, ())


@dataclass(frozen=True)
class KnownValues:
    """The known values of each filter, most frequent first, and the days of the first and the latest capture."""

    by_filter: Mapping[str, tuple[str, ...]]
    earliest: datetime.date | None = None
    latest: datetime.date | None = None

    def __bool__(self) -> bool:
        return any(self.by_filter.values())


@dataclass(frozen=True)
class Search:
    """One search: its conditions without those of the page, and a theme (by meaning) or words of the copy. `result` is set for a
    query.
    """

    tool: str
    conditions: tuple[Condition, ...]
    matches: CampaignSet
    theme: str = ""
    words: str = ""
    result: QueryResult | None = None


@dataclass(frozen=True)
class Question:
    """What a question asks of campaigns. `theme` is searched for by meaning. `unread` are the words that no part of the Query
    reads; of these, `vetoes` are values, numbers, days and names.
    """

    query: Query
    verdict: Verdict
    theme: str = ""
    unread: Sequence[str] = ()
    vetoes: Sequence[str] = ()
    evidence: Sequence[Evidence] = ()
    needs_theme: bool = False
    """Whether an answer must come near the theme."""
    hints: tuple[Condition, ...] = ()
    """Conditions that only affect the order."""

    @property
    def is_list(self) -> bool:
        """Whether it asks for campaigns in no particular order."""
        return self.query.asks_for_rows and not self.query.order


NAME = "campaigns"
SCHEMA = Schema(SOURCES)
DATE = CAMPAIGNS.dated or ""
NO_DAY = datetime.date.min
"""The reference day for conditions without relative days."""
_SOURCE = replace(
    SOURCES[NAME],
    fields={name: replace(each, wording=CAMPAIGNS.fields[name].wording) for name, each in SOURCES[NAME].fields.items()},
)
[_RECENT] = comparisons_of(PREDICATES["recent"])
PHRASES = Phrases(Schema({NAME: _SOURCE}), _SOURCE, NO_DAY)


def label_of(condition: Condition, today: datetime.date = NO_DAY) -> str:
    """A condition in words that can follow "campaigns": "on Email"."""
    return replace(PHRASES, today=today).condition(condition)


# ---- filters ----


@dataclass(frozen=True)
class Resolved:
    """Filters as conditions, and their unknown values. `is_impossible`: all values of a filter are unknown."""

    conditions: tuple[Condition, ...] = ()
    unknown: tuple[UnknownValue, ...] = ()
    is_impossible: bool = False


def named_values(
    filters: CampaignFilters, exclude: ExcludedValues | None = None, pointer: str = ""
) -> list[NamedValue]:
    """The values that filters name or exclude, each with its pointer below `pointer`."""
    parts = [(filters, pointer), *([(exclude, f"{pointer}/exclude")] if exclude else [])]
    return [
        NamedValue((name,), value, f"{at}/{name}", is_negated=of is exclude)
        for of, at in parts
        for name in FILTER_VALUES
        for value in getattr(of, name)
    ]


def resolve(
    filters: CampaignFilters,
    named_values: Sequence[NamedValue],
    existing: Sequence[Sequence[str]],
    known_values: KnownValues,
) -> Resolved:
    """Filters as conditions. `existing` has the values of the data for each of the `named_values`."""
    unknown = [each for each, values in zip(named_values, existing, strict=True) if not values]
    met = {each.facets for each, values in zip(named_values, existing, strict=True) if values and not each.is_negated}
    return Resolved(
        (*_on_values(named_values, existing), *_on_others(filters, known_values.latest)),
        tuple(_explained(unknown, known_values)),
        any(not each.is_negated and each.facets not in met for each in unknown),
    )


def _on_values(named_values: Sequence[NamedValue], existing: Sequence[Sequence[str]]) -> Iterator[Condition]:
    """One condition for each filter: on its known values, or on those given if none is known."""
    by_filter: dict[tuple[str, bool], tuple[list[str], list[str]]] = {}
    for each, values in zip(named_values, existing, strict=True):
        filter_values, existing_values = by_filter.setdefault((each.facets[0], each.is_negated), ([], []))
        filter_values.append(each.value)
        existing_values.extend(values)
    for (name, is_negated), (filter_values, existing_values) in by_filter.items():
        if existing_values or not is_negated:
            yield compared(name, tuple(dict.fromkeys(existing_values or filter_values)), is_negated=is_negated)


def _on_others(filters: CampaignFilters, latest: datetime.date | None) -> Iterator[Condition]:
    if filters.offer:
        yield compared("offer", (filters.offer,))
    if filters.has_offer is not None:
        yield compared("offer", is_negated=not filters.has_offer)
    days = date_range(filters.date_range, latest)
    if days.from_date or days.to_date:
        yield _within(days.from_date, days.to_date)


def _explained(unknown: Sequence[NamedValue], values: KnownValues) -> Iterator[UnknownValue]:
    for place, each in enumerate(unknown):
        near = nearest(each.value, values.by_filter.get(each.facets[0], ())) if place < EXPLAINED_VALUES else ()
        yield UnknownValue(CAMPAIGNS.nouns[0], CAMPAIGNS.facets[each.facets[0]].label, each.value, near)


def date_range(range_: DateRange | Literal["recent"] | None, latest: datetime.date | None) -> DateRange:
    """A range as days; "recent" counts back from the latest capture."""
    if isinstance(range_, DateRange):
        return range_
    return (days_of(_RECENT, latest) if range_ and latest else None) or DateRange()


def filters_of(conditions: Iterable[Condition], today: datetime.date, latest: datetime.date | None) -> CampaignFilters:
    """The conditions that filters of the page can express, the first one for each field."""
    fields: dict[str, object] = {}
    for each in conditions:
        inner, is_denied = affirmed(each)
        if isinstance(inner, Comparison):
            fields = dict(_filter_of(inner, today, latest, is_denied=is_denied)) | fields
    return CampaignFilters.model_validate(fields)


def _filter_of(
    condition: Comparison, today: datetime.date, latest: datetime.date | None, *, is_denied: bool
) -> Iterator[tuple[str, object]]:
    field, values = condition.field, [str(each) for each in condition.scalars]
    if field == "offer" and condition.op == "not_null":
        yield "has_offer", not is_denied
    elif not is_denied and values and condition.op in ("=", "contains") and field in FILTER_VALUES:
        yield field, values
    elif not is_denied and values and condition.op in ("=", "contains") and field == "offer":
        yield field, values[0]
    elif not is_denied and (days := days_of(condition, today)):
        yield "date_range", "recent" if days == date_range("recent", latest) else days


def days_of(condition: Comparison, today: datetime.date) -> DateRange | None:
    """The days that a condition names; None unless it compares the day of capture with days."""
    values = condition.scalars
    is_range = condition.op in ("=", "<", "<=", ">", ">=", "between")
    if condition.field != DATE or not is_range or len(values) != (2 if condition.op == "between" else 1):
        return None
    days = [interval_of(value, "date", today, "") for value in values]
    first, last = days[0].first, days[-1].last
    ends = {"<": (None, first - DAY), "<=": (None, last), ">": (last + DAY, None), ">=": (first, None)}
    return DateRange.between(*ends.get(condition.op, (first, last)))


def in_days(condition: Condition, today: datetime.date) -> Condition:
    """A condition with dates in place of days that are relative to `today`."""
    days = days_of(condition, today) if isinstance(condition, Comparison) else None
    return condition if days is None else _within(days.from_date, days.to_date)


def compared(field: str, values: tuple[str, ...] = (), *, is_negated: bool = False) -> Condition:
    """The condition that a field has one of these values, or any value if none is given; an offer contains the words."""
    if not values:
        return Comparison(field=field, op="is_null" if is_negated else "not_null")
    if field != "offer":
        return Comparison(field=field, op="!=" if is_negated else "=", values=values)
    holds = Comparison(field=field, op="contains", values=values)
    return Not(negated=holds) if is_negated else holds


def _within(first: datetime.date | None, last: datetime.date | None) -> Comparison:
    ends = tuple(day.isoformat() for day in (first, last) if day)
    return Comparison(field=DATE, op="between" if len(ends) == 2 else "<=" if first is None else ">=", values=ends)


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


def build_tool_result(matches: CampaignSet, lines: Sequence[str] = (), *, is_listed: bool = True) -> CampaignToolResult:
    """The result for a set of campaigns, `lines` first. Texts of advertisers stand in fenced blocks, as data. Without
    `is_listed`, only the lines are shown.
    """
    if not matches.total:
        return CampaignToolResult(0, ("\n".join(lines) or gettext("No campaign matches."))[:SUMMARY_CHARACTERS_MAX])
    head = "\n".join([*lines, *([_size(matches), *_counts(matches)] if is_listed else [])])
    room = SUMMARY_CHARACTERS_MAX - len(head)
    blocks: list[str] = []
    campaigns = matches.campaigns[:SUMMARIZED_CAMPAIGNS] if is_listed else ()
    whole = (
        room // len(campaigns) - BESIDE_COPY_CHARACTERS
        if 0 < len(campaigns) == matches.total <= WHOLE_COPIES_MAX
        else 0
    )
    for campaign in campaigns:
        block = _block(campaign, max(whole, COPY_CHARACTERS_MAX))
        room -= len(block) + 1
        if room < 0:
            break
        blocks.append(block)
    return CampaignToolResult(matches.total, "\n".join([head, *blocks])[:SUMMARY_CHARACTERS_MAX], matches.campaigns)


def summarise_groups(groups: Result, by: str, limit: int, *, is_listed: bool) -> str:
    """Groups of campaigns in a line: their number; if listed, also the first groups, the one without a value, and the rest, which
    add up to the total.
    """
    valued = [row for row in groups.rows if row[0] is not None and row[1]]
    number = groups.groups - (len(groups.rows) - len(valued))
    if not is_listed:
        return f"{number} different values of {by} among {groups.total} campaigns, exactly."
    rows = [*valued[:limit], *(row for row in groups.rows if row[0] is None)]
    listed = [f"{fence(shorten(str(value or NO_VALUE), 80))} ({count})" for value, count in rows]
    others = groups.grouped - sum(int(str(count)) for _, count in rows)
    if others:
        listed.append(f"all others ({others})")
    overlap = " A campaign can have several." if groups.grouped > groups.total else ""
    which = "the first" if others else "all"
    return f"{which} of {number} values of {by} among {groups.total} campaigns, exactly: {'; '.join(listed)}.{overlap}"


def line_for_people(matches: CampaignSet) -> str:
    """A line about a set for users."""
    if not matches.total:
        return gettext("No campaign found")
    names = list(dict.fromkeys(campaign.brand or campaign.company for campaign in matches.campaigns))[:3]
    more = " …" if matches.total > len(names) else ""
    size = ngettext("{number} campaign", "{number} campaigns", matches.total)
    if matches.more:
        size = ngettext("At least {number} campaign", "At least {number} campaigns", matches.total)
    return f"{size}: {', '.join(names)}{more}"


def _size(matches: CampaignSet) -> str:
    listed = min(len(matches.campaigns), SUMMARIZED_CAMPAIGNS)
    first = f" The first {listed} follow." if matches.total > listed else ""
    counts = "The counts are exact, over all of them."
    if not matches.has_counts:
        counts = "There are too many to count their values; filter them."
    return f"{matches.size.capitalize()} campaigns. {counts}{first}"


def _counts(matches: CampaignSet) -> Iterable[str]:
    for name in COUNTED_FIELDS:
        counts = matches.counts.get(name) or {}
        listed = [
            f"{fence(shorten(value, 80)) if value else NO_VALUE} ({count})"
            for value, count in list(counts.items())[:SUMMARIZED_VALUES]
        ]
        rest = sum(list(counts.values())[SUMMARIZED_VALUES:]) + matches.others.get(name, 0)
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


def answer_text(question: Question, search: Search, costs: Sequence[tuple[str, int]], today: datetime.date) -> str:
    """The text of the answer, the result first. An exact one ends in how the question was read. `costs` are the labels of
    conditions, each with the number of campaigns without it.
    """
    result = search.result
    if result is None and not (question.is_list and (search.matches.total or question.verdict != "refused")):
        return _unanswerable(question.unread)
    if result is None:
        before = [*(_theme(search, question.verdict) if search.theme else _by_words(question, search))]
        rows = _campaigns(search.matches)
        return "\n".join([*before, *with_list(sentence(search, today), [*_costs(costs), *rows])])
    rows = _campaigns(search.matches) if result.query.asks_for_rows else lines_of(result, PHRASES)
    reading_line = as_read(how_read(result.query, PHRASES.schema, today), question.unread, PHRASES)
    return "\n".join(
        [*_by_words(question, search), *with_list(result.sentence, [*_costs(costs), *rows]), "", reading_line]
    )


def sentence(search: Search, today: datetime.date) -> str:
    """The result of a search in a sentence."""
    if search.result is not None:
        return search.result.sentence
    matches = search.matches
    query = Query(source=NAME, where=search.conditions, aggregate=(Aggregate(fn="count"),), text=search.words)
    sentence_ = describe(query, Result([], [[matches.total]], matches.total, False), PHRASES.schema, today).sentence
    return gettext("At least {sentence}", sentence=sentence_) if matches.more else sentence_


def _unanswerable(unread: Sequence[str]) -> str:
    words = [gettext("“{text}”", text=each) for each in unread[:UNREAD_MAX]]
    labels = ", ".join(each.label for each in PHRASES.source.fields.values())
    text = gettext("This is not in the data.")
    if words:
        text = gettext("This is not in the data: {words}.", words=listed_label(words, is_choice=False))
    fields = gettext("The data has, for each campaign, {labels} and the copy.", labels=labels)
    return f"{text} {fields}"


def _theme(search: Search, verdict: Verdict) -> Iterator[str]:
    """Says how near the campaigns are to a theme."""
    theme, matches = search.theme, search.matches
    if verdict == "refused":
        yield gettext("This is not in the data as such. The nearest campaigns:")
    elif not matches.total:
        yield gettext("No campaign comes near “{theme}”:", theme=theme)
    elif matches.is_near_only:
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
        line = ngettext(
            "without “{label}”: {number} campaign", "without “{label}”: {number} campaigns", number, label=label
        )
        yield f"- {line}"


def _campaigns(matches: CampaignSet) -> Iterator[str]:
    for campaign in matches.campaigns[:LISTED_CAMPAIGNS]:
        gist = campaign.offer or shorten(campaign.campaign_text, COPY_CHARACTERS)
        yield f"- **{_name(campaign)}** ({_facts(campaign)}): {gist}"


def _facts(campaign: Campaign) -> str:
    day = PHRASES.writing.date(campaign.capture_date) if campaign.capture_date else None
    return ", ".join(filter(None, (campaign.channel, campaign.imagery_sentiment, day)))


def _name(campaign: Campaign) -> str:
    if campaign.brand and campaign.brand != campaign.company:
        return f"{campaign.brand}, {campaign.company}"
    return campaign.company
