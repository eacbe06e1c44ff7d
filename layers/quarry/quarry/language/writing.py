"""Numbers, money and dates in the format of a language ("1.234,50 EUR", "3. Mai 2024"), and numbers as people write them
("1,200", "5k", "two thousand"). Pure.

Languages go by the names of Postgres' text search configurations; `data/writing.toml` holds their formats.
"""

from __future__ import annotations

import calendar
import datetime
import re
import tomllib
from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

from quarry.language.messages import ngettext, pgettext, writing

Grain = Literal["day", "week", "month", "quarter", "year"]
"""The precision of a date."""

ENGLISH = "english"
"""The format for unknown languages."""

DECIMALS = 2
"""Decimals of numbers in words: a result has them all."""
PLACES_MAX = 20

_INDIAN_GROUPS = re.compile(r"(?<=\d)(?=(?:\d\d)*\d{3}(?!\d))")


class Writing(NamedTuple):
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


def with_english_digits(text: str, language: str) -> str:
    """A text of the same length with its numbers in the format of English: "1.234,50" is "1,234.50"."""
    formats = writing_of(language)
    if (formats.group, formats.decimal) == (IN_ENGLISH.group, IN_ENGLISH.decimal):
        return text
    group = r"[ \u00a0\u202f]" if formats.group.isspace() else re.escape(formats.group)
    swapped = {formats.decimal: IN_ENGLISH.decimal}
    return re.sub(
        rf"(?<![\w.,])\d{{1,3}}(?:(?:{group}\d{{3}})++(?:{re.escape(formats.decimal)}\d++)?|\d*+{re.escape(formats.decimal)}\d++)(?![.,]?\d)",
        lambda match: "".join(
            each if each.isdigit() else swapped.get(each, IN_ENGLISH.group) for each in match.group()
        ),
        text,
    )


def _listed(names: str) -> tuple[str, ...]:
    return tuple(names.split(", "))


def writing_of(language: str) -> Writing:
    """The formats of a language; those of English if it is unknown."""
    return languages().get(language) or languages()[ENGLISH]


IN_ENGLISH = writing_of(ENGLISH)

_SMALL = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen".split()
    )
} | {
    word: 10 * number for number, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_SCALES = {
    "dozen": 12.0, "hundred": 1e2, "thousand": 1e3, "k": 1e3, "lakh": 1e5, "lac": 1e5, "l": 1e5, "million": 1e6, "mn": 1e6,
    "mm": 1e6, "m": 1e6, "mio": 1e6, "crore": 1e7, "cr": 1e7, "billion": 1e9, "bn": 1e9, "b": 1e9, "trillion": 1e12,
    "tn": 1e12,
}  # fmt: skip

_SMALL_WORD = f"(?:{'|'.join(sorted(_SMALL, key=len, reverse=True))})"
_SCALE_WORD = r"(?:hundred|thousand|million|billion|trillion|lakhs?|lacs?|crores?|dozen)"
DIGITS = r"(?:\d{1,3}(?>(?:,\d{2,3})+)(?:\.\d++)?|\d++(?:\.\d++)?)"
SCALE = rf"(?:(?:k|m|b|mn|mm|mio|bn|tn|cr)\b|\s{{0,2}}+(?:{_SCALE_WORD}|mn|mio|bn|tn|cr)\b)"
"""A suffix that multiplies the digits before it."""
NO_NUMERAL = (
    r"(?:\d{1,4}-\d{1,2}-\d{1,4}(?![\d.])|\d{1,4}/\d{1,2}/\d{1,4}(?!\d)|\d++(?:\.\d++){2,}"
    r"|\d{3}-\d{3}-\d{4}(?!\d)|\d++:\d++)"
)
"""Text with digits that is not a number: a date, a version, a telephone number, a time of day."""
IN_WORDS = (
    rf"(?:(?:half\s++)?an?\s++{_SCALE_WORD}\b|(?:(?:half\s++)?an?\s++{_SCALE_WORD}|{_SMALL_WORD})"
    rf"(?:[\s-]++(?:{_SMALL_WORD}|{_SCALE_WORD})\b|(?<=hundred)\s++and\s++{_SMALL_WORD}\b){{0,9}}\b)"
)

_NUMERAL = re.compile(rf"({DIGITS})({SCALE}|l\b)?", re.IGNORECASE)
NUMBER_MAX = 1e18
"""A larger number is a code: no column of whole numbers holds it."""
_HUNDREDS_MAX = 1000
_BESIDE = ("a", "an", "and")
"""Words that accompany number words,"""
_SAYS_NO_NUMBER = frozenset((*_BESIDE, "half"))
"""and are not numbers on their own."""


def number_words(least: int, most: int) -> dict[str, int]:
    """The single words for the whole numbers from `least` to `most`."""
    return {word: number for word, number in _SMALL.items() if least <= number <= most}


def numeral_value(text: str) -> float | None:
    """The number that `text` states; None if it is not one ("five six"), or larger than NUMBER_MAX."""
    text = text.strip().lower()
    if match := _NUMERAL.fullmatch(text):
        value = float(match[1].replace(",", "")) * scale_value(match[2] or "")
        return round(value, 6) if value <= NUMBER_MAX else None
    return _value_of_words(re.split(r"[\s-]+", text))


def scale_value(scale: str) -> float:
    """The factor that "k", "million" or "lakhs" stands for; 1 for the empty text."""
    word = scale.strip().lower()
    return _SCALES.get(word) or _SCALES.get(word.removesuffix("s"), 1.0)


def _value_of_words(words: list[str]) -> float | None:
    """Each word adds to the current group ("three hundred and five") or closes it ("thousand"). None for "a" alone."""
    total, group, before = 0.0, 0.0, ""
    if _SAYS_NO_NUMBER.issuperset(words):
        return None
    for word in words:
        if word in _SMALL:
            if not _may_follow(word, before):
                return None
            group += _SMALL[word]
        elif (scale := scale_value(word)) > 1:
            group = (group or 1.0) * scale * (0.5 if before == "half" else 1.0)
            if scale >= _HUNDREDS_MAX:
                total, group = total + group, 0.0
        elif word not in _SAYS_NO_NUMBER:
            return None
        # "half a million"
        before = before if word in _BESIDE else word
    return total + group


def _may_follow(word: str, before: str) -> bool:
    """Whether a number below a hundred may follow another number word: "twenty" after "hundred", "five" after "twenty"."""
    return before not in _SMALL or (_SMALL[before] >= 20 and 0 < _SMALL[word] < 10)


LIST_MARK = re.compile(r"^\s*(?:[-*+>#]+|\d+[.)])\s+")
"""The start of a list item, quotation or heading."""


Value = str | int | float | bool | datetime.date
NO_VALUE = "none"
"""The English name of the group of rows without a value."""


def no_value() -> str:
    """The name of the group of rows without a value."""
    return pgettext("none", "none")


def value_label(value: Value | None, grain: Grain | None, formats: Writing | None = None) -> str:
    """A value, or the period of a grain that starts on a day, in words: "March 2024", "Q1 2024"; "none" without a value."""
    formats = formats or writing()
    if value is None:
        return no_value()
    if isinstance(value, float):
        return formats.measured(value)
    if not isinstance(value, datetime.date):
        return str(value)
    match grain:
        case "year":
            return str(value.year)
        case "quarter":
            return pgettext("period", "Q{quarter} {year}", quarter=(value.month + 2) // 3, year=value.year)
        case "month":
            return formats.month_of(value)
        case "week":
            return pgettext("period", "the week of {day}", day=formats.date(value))
        case _:
            return formats.date(value)


def period_name(period: str) -> str:
    """What the steps of a period are called: "month"."""
    names = {
        "day": pgettext("period", "day"),
        "week": pgettext("period", "week"),
        "month": pgettext("period", "month"),
        "quarter": pgettext("period", "quarter"),
        "year": pgettext("period", "year"),
    }
    return names.get(period, period)


def steps_label(period: str | None, number: int) -> str:
    """So many steps of a period: "3 months"."""
    match period:
        case "day":
            return ngettext("{number} day", "{number} days", number)
        case "week":
            return ngettext("{number} week", "{number} weeks", number)
        case "month":
            return ngettext("{number} month", "{number} months", number)
        case "quarter":
            return ngettext("{number} quarter", "{number} quarters", number)
        case "year":
            return ngettext("{number} year", "{number} years", number)
        case _:
            return ngettext("{number} period", "{number} periods", number)


def weekday_name(number: int) -> str:
    """A day of the week, from 1, Monday."""
    names = (
        pgettext("weekday", "Monday"),
        pgettext("weekday", "Tuesday"),
        pgettext("weekday", "Wednesday"),
        pgettext("weekday", "Thursday"),
        pgettext("weekday", "Friday"),
        pgettext("weekday", "Saturday"),
        pgettext("weekday", "Sunday"),
    )
    return names[number - 1]


def listed_label(names: Sequence[str], *, is_choice: bool = True) -> str:
    """Names in words: "a, b or c", or "a, b and c" where it is no choice."""
    if len(names) < 2:
        return "".join(names)
    joined = pgettext("list", " or ") if is_choice else pgettext("list", " and ")
    return f"{', '.join(names[:-1])}{joined}{names[-1]}"


def days_label(first: datetime.date | None, last: datetime.date | None, formats: Writing) -> str:
    """A range of days in words: "in October 2026", "since 2020"."""
    if first is None:
        return _until(last, formats) if last is not None else ""
    if last is None:
        return _since(first, formats)
    return _whole_period(first, last, formats) or _between(first, last, formats)


def _whole_period(first: datetime.date, last: datetime.date, formats: Writing) -> str | None:
    """A range that is exactly a day, a month or a year."""
    if first == last:
        return pgettext("day", "on {day}", day=formats.date(first))
    if (first.year, first.month) == (last.year, last.month) and _begins_month(first) and _ends_month(last):
        return pgettext("month", "in {month}", month=formats.month_of(first))
    if first.year == last.year and _begins_year(first) and _ends_year(last):
        return pgettext("year", "in {year}", year=first.year)
    return None


def _between(first: datetime.date, last: datetime.date, formats: Writing) -> str:
    """Both ends as years, months or days, in the same precision: "between 2026 and June 2026" would leave the start unclear."""
    if _begins_year(first) and _ends_year(last):
        return pgettext("year", "between {first} and {last}", first=first.year, last=last.year)
    if _begins_month(first) and _ends_month(last):
        ends = {"first": formats.month_of(first), "last": formats.month_of(last)}
        return pgettext("month", "between {first} and {last}", **ends)
    return pgettext("day", "between {first} and {last}", first=formats.date(first), last=formats.date(last))


def _since(day: datetime.date, formats: Writing) -> str:
    if _begins_year(day):
        return pgettext("year", "since {year}", year=day.year)
    if _begins_month(day):
        return pgettext("month", "since {month}", month=formats.month_of(day))
    return pgettext("day", "since {day}", day=formats.date(day))


def _until(day: datetime.date, formats: Writing) -> str:
    if _ends_year(day):
        return pgettext("year", "until {year}", year=day.year)
    if _ends_month(day):
        return pgettext("month", "until {month}", month=formats.month_of(day))
    return pgettext("day", "until {day}", day=formats.date(day))


def _begins_month(day: datetime.date) -> bool:
    return day.day == 1


def _ends_month(day: datetime.date) -> bool:
    return day.day == calendar.monthrange(day.year, day.month)[1]


def _begins_year(day: datetime.date) -> bool:
    return (day.month, day.day) == (1, 1)


def _ends_year(day: datetime.date) -> bool:
    return (day.month, day.day) == (12, 31)
