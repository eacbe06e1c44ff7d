"""Filters as asked, made into filters that hold: every value one that exists, every range a pair of days."""

from __future__ import annotations

import datetime
import difflib
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from quarry.campaigns.contract import CampaignFilters, DateRange
from quarry.campaigns.found import KnownValues

RECENT_DAYS = 90
NEAREST_VALUES = 3
NEAREST_CUTOFF = 0.4
NEAREST_AMONG = 300
"""So many known values, the most frequent ones, are compared letter by letter with one that does not exist,"""
NEAREST_CHARACTERS = 60
"""and so many of its letters;"""
EXPLAINED_VALUES = 5
"""for the first so many that do not exist."""

# Filters whose values are a closed list, with the SQL functions' name for each.
VALUE_FILTERS = {
    "channel": "p_channels",
    "company": "p_companies",
    "brand": "p_brands",
    "value_prop": "p_value_props",
    "sentiment": "p_sentiments",
    "visual_style": "p_visual_styles",
}

_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class UnknownValue:
    """A value that no campaign has, and those that come nearest to it."""

    filter: str
    value: str
    nearest: tuple[str, ...]

    def __str__(self) -> str:
        offered = f"; did you mean {' or '.join(repr(value) for value in self.nearest)}?" if self.nearest else "."
        return f"No campaign has the {self.filter.replace('_', ' ')} {self.value!r}{offered}"


@dataclass(frozen=True)
class AppliedFilters:
    """Filters whose values exist. None filters nothing; an empty tuple lets nothing through."""

    channel: tuple[str, ...] | None = None
    company: tuple[str, ...] | None = None
    brand: tuple[str, ...] | None = None
    value_prop: tuple[str, ...] | None = None
    also_value_prop: tuple[str, ...] | None = None
    sentiment: tuple[str, ...] | None = None
    visual_style: tuple[str, ...] | None = None
    offers: tuple[str, ...] | None = None
    has_offer: bool | None = None
    date_from: datetime.date | None = None
    date_to: datetime.date | None = None

    def arguments(self) -> dict[str, Any]:
        """The arguments of the SQL functions, by name; those that filter nothing are left out."""
        values = {argument: getattr(self, name) for name, argument in VALUE_FILTERS.items()}
        values |= {"p_also_value_props": self.also_value_prop, "p_offers": self.offers}
        lists = {argument: list(value) for argument, value in values.items() if value is not None}
        others = {"p_has_offer": self.has_offer, "p_from": self.date_from, "p_to": self.date_to}
        return lists | {argument: value for argument, value in others.items() if value is not None}

    def within(self, base: AppliedFilters) -> AppliedFilters:
        """Filters that hold where both these and `base` do."""
        both = {
            name: _intersection(getattr(base, name), getattr(self, name))
            for name in VALUE_FILTERS
            if name != "value_prop"
        }
        contradictory = None not in (base.has_offer, self.has_offer) and base.has_offer != self.has_offer
        if contradictory:
            both["channel"] = ()
        return replace(
            self,
            **both,
            value_prop=self.value_prop if self.value_prop is not None else base.value_prop,
            also_value_prop=base.value_prop if self.value_prop is not None else None,
            offers=(*(base.offers or ()), *(self.offers or ())) or None,
            has_offer=base.has_offer if self.has_offer is None else self.has_offer,
            date_from=max(filter(None, (base.date_from, self.date_from)), default=None),
            date_to=min(filter(None, (base.date_to, self.date_to)), default=None),
        )


def resolve(filters: CampaignFilters, known: KnownValues) -> tuple[AppliedFilters, list[UnknownValue]]:
    """The filters with values that exist, and what does not exist.

    A value is taken for the known one that it equals but for case and punctuation, else for those that hold all of its words.
    """
    values: dict[str, tuple[str, ...] | None] = {}
    unknown: list[UnknownValue] = []
    for name in VALUE_FILTERS:
        asked: list[str] = getattr(filters, name)
        existing = known.by_filter.get(name, ())
        found = {value: match_value(value, existing) for value in asked}
        for value in asked:
            if not found[value]:
                offered = nearest(value, existing) if len(unknown) < EXPLAINED_VALUES else ()
                unknown.append(UnknownValue(name, value, offered))
        values[name] = tuple(dict.fromkeys(each for matches in found.values() for each in matches)) if asked else None
    dates = date_range(filters.date_range, known.latest)
    return (
        AppliedFilters(
            **values,
            offers=(filters.offer,) if filters.offer else None,
            has_offer=filters.has_offer,
            date_from=dates.from_date,
            date_to=dates.to_date,
        ),
        unknown,
    )


def canonical(asked: CampaignFilters, applied: AppliedFilters) -> CampaignFilters:
    """The filters as asked, their values as they are written in the data."""
    values = {name: list(getattr(applied, name) or ()) for name in VALUE_FILTERS}
    return CampaignFilters(**values, offer=asked.offer, has_offer=asked.has_offer, date_range=asked.date_range)


def match_value(value: str, existing: Sequence[str]) -> list[str]:
    """The known values that are meant by `value`: the equal one, else all whose words hold every word of it."""
    wanted, index = plain(value), _index(tuple(existing))
    if not wanted or wanted in index.by_plain:
        return list(index.by_plain.get(wanted, ()))
    places = [index.by_word.get(word, frozenset()) for word in wanted.split()]
    return [existing[place] for place in sorted(frozenset.intersection(*places))]


def nearest(value: str, existing: Sequence[str]) -> tuple[str, ...]:
    """The known values that are spelt most like `value`."""
    by_plain = {plain(each)[:NEAREST_CHARACTERS]: each for each in existing[:NEAREST_AMONG]}
    wanted = plain(value)[:NEAREST_CHARACTERS]
    close = difflib.get_close_matches(wanted, by_plain, n=NEAREST_VALUES, cutoff=NEAREST_CUTOFF)
    return tuple(by_plain[each] for each in close)


@dataclass(frozen=True)
class _Index:
    """Values by their plain form, and their places in the list by each of their words."""

    by_plain: Mapping[str, Sequence[str]]
    by_word: Mapping[str, frozenset[int]]


@lru_cache(maxsize=16)
def _index(existing: tuple[str, ...]) -> _Index:
    by_plain: dict[str, list[str]] = defaultdict(list)
    by_word: dict[str, set[int]] = defaultdict(set)
    for place, value in enumerate(existing):
        by_plain[plain(value)].append(value)
        for word in plain(value).split():
            by_word[word].add(place)
    return _Index(dict(by_plain), {word: frozenset(places) for word, places in by_word.items()})


def plain(text: str) -> str:
    """Lower-case words and figures, one space between them."""
    return _NOT_ALPHANUMERIC.sub(" ", text.casefold()).strip()


def date_range(asked: DateRange | str | None, latest: datetime.date | None) -> DateRange:
    """A range as days; "recent" counts back from the latest capture."""
    if isinstance(asked, DateRange):
        return asked
    if asked is None or latest is None:
        return DateRange()
    return DateRange.between(latest - datetime.timedelta(days=RECENT_DAYS), latest)


def _intersection(base: tuple[str, ...] | None, own: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if base is None or own is None:
        return own if base is None else base
    return tuple(value for value in own if value in base)
