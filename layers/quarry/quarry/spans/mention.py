"""What a question mentions, each with the characters that say it."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from quarry.language.writing import Grain

PlaceKind = Literal["city", "region", "country", "continent"]
Per = Literal["year", "month", "week", "day", "hour"]
"""The period that an amount of money is paid for."""


@dataclass(frozen=True)
class KnownValue:
    """A value of a facet as stored in the data, with its number of rows. `likeness` is 1 for a correct spelling (ignoring case,
    accents and inflection), less for a typo. `is_whole`: the question contains the whole value. `tables` are the names of those
    that hold it.
    """

    facet: str
    value: str
    rows: int = 0
    likeness: float = 1.0
    is_whole: bool = True
    tables: frozenset[str] = field(default=frozenset(), compare=False)


class ValueMatch(NamedTuple):
    """The words `first` to `last` (exclusive) of the question may mean `value`."""

    first: int
    last: int
    value: KnownValue


class DateRange(NamedTuple):
    """Days from `first` to `last`, both inclusive; None is open. `months` (1 to 12): only these months of each year."""

    first: datetime.date | None = None
    last: datetime.date | None = None
    months: tuple[int, ...] = ()
    grain: Grain = "day"


class NumberRange(NamedTuple):
    """Numbers from `least` to `most`; None is open. `unit` is the stem of the counted noun, if one is named."""

    least: float | None = None
    most: float | None = None
    includes_least: bool = True
    includes_most: bool = True
    unit: str | None = None


class MoneyRange(NamedTuple):
    """Amounts from `least` to `most`; None is open. `currency` is the ISO 4217 code, or None if none is named."""

    least: float | None = None
    most: float | None = None
    includes_least: bool = True
    includes_most: bool = True
    currency: str | None = None
    per: Per | None = None


@dataclass(frozen=True)
class Duration:
    """A length of time in months: "5+ years". As a date, it only means an age. `unit` is the stem of the unit used."""

    least: float | None = None
    most: float | None = None
    includes_least: bool = field(default=True, compare=False)
    includes_most: bool = field(default=True, compare=False)
    unit: str | None = field(default=None, compare=False)


class Place(NamedTuple):
    """A place by its usual name, in lower case. `names` are all its spellings; for a region, also those of the places in it.

    `within` is the usual name of the country or state named with it ("London, Canada").
    """

    kind: PlaceKind
    name: str
    names: tuple[str, ...]
    within: str | None = None


Value = DateRange | NumberRange | MoneyRange | Duration | Place


class Span(NamedTuple):
    """The characters of a question that state something."""

    start: int
    end: int


class Mention(NamedTuple):
    """What `text[start:end]` mentions. `is_latent`: the words may mean this, but nothing around them confirms it. A time that
    `is_introduced` says by its first words how it is meant ("in 2017").
    """

    value: Value
    start: int
    end: int
    is_latent: bool = False
    is_introduced: bool = False
