"""Days of the calendar: those of a period, and the day some units of time away."""

from __future__ import annotations

import calendar
import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quarry.language.writing import Grain


def days_of(year: int, month: int, count: int) -> tuple[datetime.date, datetime.date]:
    """The first and last day of `count` months. Raises ValueError."""
    last_month = month - 1 + count - 1
    last_year, last = year + last_month // 12, last_month % 12 + 1
    return datetime.date(year, month, 1), datetime.date(last_year, last, calendar.monthrange(last_year, last)[1])


def shifted(day: datetime.date, unit: str, count: int) -> datetime.date:
    """The day `count` units later, or earlier. Raises ValueError, OverflowError."""
    if unit in ("day", "week"):
        return day + datetime.timedelta(days=count * (7 if unit == "week" else 1))
    months = day.year * 12 + day.month - 1 + count * {"month": 1, "quarter": 3, "year": 12, "decade": 120}[unit]
    year, month = months // 12, months % 12 + 1
    return datetime.date(year, month, min(day.day, calendar.monthrange(year, month)[1]))


def around(day: datetime.date, unit: str) -> tuple[datetime.date, datetime.date, Grain]:
    """The calendar's day, week, month, quarter, year or decade that `day` is in."""
    match unit:
        case "day":
            return day, day, "day"
        case "week":
            first = day - datetime.timedelta(days=day.weekday())
            return first, first + datetime.timedelta(days=6), "week"
        case "month":
            return *days_of(day.year, day.month, 1), "month"
        case "quarter":
            return *days_of(day.year, (day.month - 1) // 3 * 3 + 1, 3), "quarter"
        case "decade":
            return *days_of(day.year // 10 * 10, 1, 120), "year"
        case _:
            return *days_of(day.year, 1, 12), "year"
