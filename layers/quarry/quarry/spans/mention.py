"""What a question mentions, each with the characters that say it."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import Literal

from quarry.language.writing import Grain

PlaceKind = Literal["city", "region", "country", "continent"]
Per = Literal["year", "month", "week", "day", "hour"]
"""What an amount of money is paid for."""


@dataclass(frozen=True)
class KnownValue:
    """A value of a facet as it stands in the data, and in how many rows. `likeness` is 1 where it was written right (but for
    case, accents, inflection), less for a slip of the pen. `is_whole`: all of the value was said, not a part of it. `tables` are
    the names of those that hold it.
    """

    facet: str
    value: str
    rows: int = 0
    likeness: float = 1.0
    is_whole: bool = True
    tables: frozenset[str] = field(default=frozenset(), compare=False)


@dataclass(frozen=True)
class ValueMatch:
    """The words `first` to `last` (not included) of the question may mean `value`."""

    first: int
    last: int
    value: KnownValue


@dataclass(frozen=True)
class DateRange:
    """Days from `first` to `last`, both inclusive; None is open. `months` (1 to 12): only these months of each year."""

    first: datetime.date | None = None
    last: datetime.date | None = None
    months: tuple[int, ...] = ()
    grain: Grain = "day"


@dataclass(frozen=True)
class NumberRange:
    """Numbers from `least` to `most`; None is open. `unit` is the noun that is counted, as its stem, where one is named."""

    least: float | None = None
    most: float | None = None
    includes_least: bool = True
    includes_most: bool = True
    unit: str | None = None


@dataclass(frozen=True)
class MoneyRange:
    """Amounts from `least` to `most`; None is open. `currency` is the ISO 4217 code, None where none is said."""

    least: float | None = None
    most: float | None = None
    includes_least: bool = True
    includes_most: bool = True
    currency: str | None = None
    per: Per | None = None


@dataclass(frozen=True)
class Duration:
    """A length of time in months: "5+ years". It dates nothing but what is so old. `unit` is the stem of what it is told in."""

    least: float | None = None
    most: float | None = None
    includes_least: bool = field(default=True, compare=False)
    includes_most: bool = field(default=True, compare=False)
    unit: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Place:
    """A place by its usual name, lower case. `names` are all its spellings; of a region, those of what lies in it too.

    `within` is the usual name of the country or state that the words put it in ("London, Canada").
    """

    kind: PlaceKind
    name: str
    names: tuple[str, ...]
    within: str | None = None


Value = DateRange | NumberRange | MoneyRange | Duration | Place


@dataclass(frozen=True)
class Span:
    """The characters of a question that say something."""

    start: int
    end: int


@dataclass(frozen=True)
class Mention:
    """A thing that `text[start:end]` mentions. `is_latent`: the words may mean this, and nothing beside them says so."""

    value: Value
    start: int
    end: int
    is_latent: bool = False
