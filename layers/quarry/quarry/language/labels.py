"""Values, periods, ranges of days and alternatives in words ("March 2024", "since 2020", "a, b or c"), in the language that is
spoken. Pure.
"""

from __future__ import annotations

import calendar
import datetime
from collections.abc import Sequence

from quarry.language.messages import ngettext, pgettext, writing
from quarry.language.writing import Grain, Writing

Value = str | int | float | bool | datetime.date
NO_VALUE = "none"
"""The English name of the group of rows without a value."""


def no_value() -> str:
    """The name of the group of rows without a value."""
    return pgettext("none", "none")


def value_label(value: Value | None, grain: Grain | None, written: Writing | None = None) -> str:
    """A value, or the period of a grain that starts on a day, in words: "March 2024", "Q1 2024"; "none" without a value."""
    written = written or writing()
    if value is None:
        return no_value()
    if isinstance(value, float):
        return written.measured(value)
    if not isinstance(value, datetime.date):
        return str(value)
    match grain:
        case "year":
            return str(value.year)
        case "quarter":
            return pgettext("period", "Q{quarter} {year}", quarter=(value.month + 2) // 3, year=value.year)
        case "month":
            return written.month_of(value)
        case "week":
            return pgettext("period", "the week of {day}", day=written.date(value))
        case _:
            return written.date(value)


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


def days_label(first: datetime.date | None, last: datetime.date | None, written: Writing) -> str:
    """A range of days in words: "in October 2026", "since 2020"."""
    if first is None:
        return _until(last, written) if last is not None else ""
    if last is None:
        return _since(first, written)
    return _whole_period(first, last, written) or _between(first, last, written)


def _whole_period(first: datetime.date, last: datetime.date, written: Writing) -> str | None:
    """A range that is exactly a day, a month or a year."""
    if first == last:
        return pgettext("day", "on {day}", day=written.date(first))
    if (first.year, first.month) == (last.year, last.month) and _begins_month(first) and _ends_month(last):
        return pgettext("month", "in {month}", month=written.month_of(first))
    if first.year == last.year and _begins_year(first) and _ends_year(last):
        return pgettext("year", "in {year}", year=first.year)
    return None


def _between(first: datetime.date, last: datetime.date, written: Writing) -> str:
    """Both ends as years, months or days, in the same precision: "between 2026 and June 2026" would leave the start unclear."""
    if _begins_year(first) and _ends_year(last):
        return pgettext("year", "between {first} and {last}", first=first.year, last=last.year)
    if _begins_month(first) and _ends_month(last):
        ends = {"first": written.month_of(first), "last": written.month_of(last)}
        return pgettext("month", "between {first} and {last}", **ends)
    return pgettext("day", "between {first} and {last}", first=written.date(first), last=written.date(last))


def _since(day: datetime.date, written: Writing) -> str:
    if _begins_year(day):
        return pgettext("year", "since {year}", year=day.year)
    if _begins_month(day):
        return pgettext("month", "since {month}", month=written.month_of(day))
    return pgettext("day", "since {day}", day=written.date(day))


def _until(day: datetime.date, written: Writing) -> str:
    if _ends_year(day):
        return pgettext("year", "until {year}", year=day.year)
    if _ends_month(day):
        return pgettext("month", "until {month}", month=written.month_of(day))
    return pgettext("day", "until {day}", day=written.date(day))


def _begins_month(day: datetime.date) -> bool:
    return day.day == 1


def _ends_month(day: datetime.date) -> bool:
    return day.day == calendar.monthrange(day.year, day.month)[1]


def _begins_year(day: datetime.date) -> bool:
    return (day.month, day.day) == (1, 1)


def _ends_year(day: datetime.date) -> bool:
    return (day.month, day.day) == (12, 31)
