"""Numbers, money and dates in the format of a language ("1.234,50 EUR", "3. Mai 2024"), and periods and values in words ("Q1
2024", "since 2020", "a, b or c"). Pure.

Languages go by the names of Postgres' text search configurations; `data/writing.toml` holds their formats.
"""

from __future__ import annotations

import calendar
import datetime
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache
from importlib.resources import files
from typing import Literal

Grain = Literal["day", "week", "month", "quarter", "year"]
"""The precision of a date."""

ENGLISH = "english"
"""The format for unknown languages."""

DECIMALS = 2
"""Decimals of numbers in words: a result has them all."""
PLACES_MAX = 20

_INDIAN_GROUPS = re.compile(r"(?<=\d)(?=(?:\d\d)*\d{3}(?!\d))")


@dataclass(frozen=True)
class Writing:
    """The formats of a language. `code` is its ISO 639-1 code; `money`, `day` and `month` are templates; `months` are for
    dates, `alone` for a month with a year. `indian`: digits are grouped by two except the last three; numbers of `ungrouped`
    digits are not grouped.
    """

    code: str
    group: str
    decimal: str
    money: str
    day: str
    month: str
    months: tuple[str, ...]
    alone: tuple[str, ...]
    indian: bool = False
    ungrouped: int = 0
    also: tuple[str, ...] = ()
    """Other codes of the language."""

    def number(self, value: float | Decimal, form: str = ",.10g") -> str:
        """`value` in Python's `form`, with this language's separators."""
        digits, point, rest = format(value, form).partition(".")
        bare = digits.replace(",", "")
        if self.indian and bare != digits:
            digits = _INDIAN_GROUPS.sub(",", bare)
        if len(bare.lstrip("-")) <= self.ungrouped:
            digits = bare
        return digits.replace(",", self.group) + (self.decimal + rest if point else "")

    def measured(self, value: float | Decimal) -> str:
        """A number with two decimals at most; below 0.1 with the first three digits that are not 0."""
        exact = Decimal(str(value))
        places = DECIMALS if abs(exact) >= Decimal("0.1") or not exact else DECIMALS - exact.adjusted()
        # all digits of a large number, which may be more than the 28 that Python keeps by default
        with localcontext(prec=max(exact.adjusted(), 0) + PLACES_MAX + 2):
            rounded = round(exact, min(places, PLACES_MAX))
            return self.number(rounded.normalize() if rounded else Decimal(0), ",f")

    def amount(self, value: float | Decimal, currency: str | None) -> str:
        """A number with its currency, an ISO 4217 code, if it has one. What has decimals has those of cents."""
        number = self.measured(value)
        number += "0" if number[-2:-1] == self.decimal else ""
        return self.money.format(amount=number, currency=currency) if currency else number

    def date(self, day: datetime.date) -> str:
        """A day: "3 May 2024"."""
        return self.day.format(day=day.day, month=self.months[day.month - 1], year=day.year)

    def month_of(self, day: datetime.date) -> str:
        """The month of a day: "May 2024"."""
        return self.month.format(month=self.alone[day.month - 1], year=day.year)


@cache
def languages() -> Mapping[str, Writing]:
    """All languages, by name."""
    text = files("quarry.language").joinpath("data/writing.toml").read_text(encoding="utf-8")
    return {
        name: Writing(**each | {"months": _listed(each["months"]), "alone": _listed(each.get("alone", each["months"]))})
        for name, each in tomllib.loads(text).items()
    }


def _listed(names: str) -> tuple[str, ...]:
    return tuple(names.split(", "))


def writing_of(language: str) -> Writing:
    """The formats of a language; those of English if it is unknown."""
    return languages().get(language) or languages()[ENGLISH]


Value = str | int | float | bool | datetime.date
IN_ENGLISH = writing_of(ENGLISH)

NO_VALUE = "none"
"""The name of the group of rows without a value."""


def value_label(value: Value | None, grain: Grain | None, writing: Writing = IN_ENGLISH) -> str:
    """A value, or the period of a grain that starts on a day, in words: "March 2024", "Q1 2024"; "none" without a value."""
    if value is None:
        return NO_VALUE
    if isinstance(value, float):
        return writing.measured(value)
    if not isinstance(value, datetime.date):
        return str(value)
    match grain:
        case "year":
            return str(value.year)
        case "quarter":
            return f"Q{(value.month + 2) // 3} {value.year}"
        case "month":
            return writing.month_of(value)
        case "week":
            return f"the week of {writing.date(value)}"
        case _:
            return writing.date(value)


def listed_label(names: Sequence[str]) -> str:
    """Alternatives in words: "a, b or c"."""
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def days_label(first: datetime.date | None, last: datetime.date | None, writing: Writing) -> str:
    """A range of days in words: "in October 2026", "since 2020"."""
    if first is None:
        return f"until {_end(last, writing)}" if last is not None else ""
    if last is None:
        return f"since {_beginning(first, writing)}"
    return _whole_period(first, last, writing) or f"between {' and '.join(_ends(first, last, writing))}"


def _whole_period(first: datetime.date, last: datetime.date, writing: Writing) -> str | None:
    """A range that is exactly a day, a month or a year."""
    if first == last:
        return f"on {writing.date(first)}"
    if (first.year, first.month) == (last.year, last.month) and _begins_month(first) and _ends_month(last):
        return f"in {writing.month_of(first)}"
    if first.year == last.year and _begins_year(first) and _ends_year(last):
        return f"in {first.year}"
    return None


def _ends(first: datetime.date, last: datetime.date, writing: Writing) -> tuple[str, str]:
    """Both ends as years, months or days, in the same precision: "between 2026 and June 2026" would leave the start unclear."""
    if _begins_year(first) and _ends_year(last):
        return str(first.year), str(last.year)
    if _begins_month(first) and _ends_month(last):
        return writing.month_of(first), writing.month_of(last)
    return writing.date(first), writing.date(last)


def _beginning(day: datetime.date, writing: Writing) -> str:
    if _begins_year(day):
        return str(day.year)
    return writing.month_of(day) if _begins_month(day) else writing.date(day)


def _end(day: datetime.date, writing: Writing) -> str:
    if _ends_year(day):
        return str(day.year)
    return writing.month_of(day) if _ends_month(day) else writing.date(day)


def _begins_month(day: datetime.date) -> bool:
    return day.day == 1


def _ends_month(day: datetime.date) -> bool:
    return day.day == calendar.monthrange(day.year, day.month)[1]


def _begins_year(day: datetime.date) -> bool:
    return (day.month, day.day) == (1, 1)


def _ends_year(day: datetime.date) -> bool:
    return (day.month, day.day) == (12, 31)
