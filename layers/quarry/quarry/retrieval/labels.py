"""Values, periods and days in words: "Q1 2024", "since 2020", "a, b or c". Pure."""

from __future__ import annotations

import calendar
import datetime
from collections.abc import Sequence

from quarry.language.writing import ENGLISH, Writing, writing_of
from quarry.spans.mention import Grain

Value = str | int | float | bool | datetime.date
IN_ENGLISH = writing_of(ENGLISH)

NO_VALUE = "none"
"""What the group of rows without a value is called."""


def value_label(value: Value | None, grain: Grain | None, writing: Writing = IN_ENGLISH) -> str:
    """A value, or the period of a grain that begins on a day, in words: "March 2024", "Q1 2024"; "none" where there is none."""
    if value is None:
        return NO_VALUE
    if isinstance(value, float):
        return writing.number(value, ".10g")
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
    """Days from the first to the last in words: "in October 2026", "since 2020"."""
    if first is None:
        return f"until {_end(last, writing)}" if last is not None else ""
    if last is None:
        return f"since {_beginning(first, writing)}"
    return _whole_period(first, last, writing) or f"between {' and '.join(_ends(first, last, writing))}"


def _whole_period(first: datetime.date, last: datetime.date, writing: Writing) -> str | None:
    """A day, a month or a year that is meant as a whole."""
    if first == last:
        return f"on {writing.date(first)}"
    if (first.year, first.month) == (last.year, last.month) and _begins_month(first) and _ends_month(last):
        return f"in {writing.month_of(first)}"
    if first.year == last.year and _begins_year(first) and _ends_year(last):
        return f"in {first.year}"
    return None


def _ends(first: datetime.date, last: datetime.date, writing: Writing) -> tuple[str, str]:
    """Both ends as years, as months or as days: "between 2026 and June 2026" would leave open from when."""
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
