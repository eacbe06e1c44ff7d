"""The values that conditions compare with, checked against the kind of their field. Pure."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from quarry.platform.days import around, days_of, shifted
from quarry.query.arithmetic import undeclared
from quarry.query.paths import invalid
from quarry.schema.algebra import Scalar
from quarry.schema.source import Kind

_PERIOD = re.compile(r"(\d{4})(?:-(?:(\d\d)(?:-(\d\d))?|W(\d\d)|Q([1-4])))?", re.ASCII)
_FISCAL = re.compile(r"(?:FY ?(?=\d)|(\w+ )fiscal )(\d{4}(?:-Q[1-4])?|quarter|year)", re.ASCII | re.IGNORECASE)
"""A fiscal year or quarter. Without `FY` or `fiscal` it is one of the calendar."""
_RELATIVE = re.compile(r"today(?:([+-]\d{1,5})([dwmqy]))?", re.ASCII)
_NAMED = re.compile(r"(this|last|next|previous|current) (day|week|month|quarter|year)", re.ASCII | re.IGNORECASE)
_AWAY = {"this": 0, "current": 0, "last": -1, "previous": -1, "next": 1}
_UNITS = {"d": "day", "w": "week", "m": "month", "q": "quarter", "y": "year"}
DIGITS_MAX = 324
"""The largest power of ten of a number that is compared, up or down: a `double precision` reaches from 4.9e-324 to 1.8e308."""
DAY = datetime.timedelta(days=1)


class Interval(NamedTuple):
    """Days, or moments, from `start` to before `end`; a moment where there is no end."""

    start: str
    end: str | None

    @property
    def first(self) -> datetime.date:
        """The day that it begins on."""
        return datetime.datetime.fromisoformat(self.start).date()

    @property
    def last(self) -> datetime.date:
        """The last of its days."""
        return self.first if self.end is None else datetime.date.fromisoformat(self.end) - DAY

    @property
    def after(self) -> datetime.date:
        """The first day that what is after it may be on."""
        return self.first if self.end is None else datetime.date.fromisoformat(self.end)

    @property
    def before(self) -> datetime.date:
        """The last day that what is before it may be on."""
        return self.first if self.end is None else self.first - DAY


def number_of(value: Scalar, pointer: str) -> int | Decimal:
    """A number. Raises InvalidInput."""
    if isinstance(value, bool):
        raise invalid(pointer, "a number is needed, not true or false")
    try:
        number = Decimal(value) if isinstance(value, int) else Decimal(str(value).strip())
    except InvalidOperation:
        raise invalid(pointer, f"{str(value)[:100]!r} is not a number") from None
    if number.is_finite() and abs(number.adjusted()) > DIGITS_MAX:
        raise invalid(pointer, f"{str(value)[:100]!r} is not a number that can be compared")
    return value if isinstance(value, int) else number


_TRUE, _FALSE = frozenset("true yes on 1 t y".split()), frozenset("false no off 0 f n".split())
"""How Postgres spells a boolean: https://www.postgresql.org/docs/current/datatype-boolean.html."""


def truth(value: Scalar) -> bool | None:
    """True or false, in any spelling that Postgres reads; None for anything else."""
    truth_value = str(value).strip().lower()
    return truth_value in _TRUE if truth_value in _TRUE or truth_value in _FALSE else None


def truth_of(value: Scalar, pointer: str) -> bool:
    """True or false, in any spelling that Postgres reads. Raises InvalidInput."""
    if (truth_value := truth(value)) is not None:
        return truth_value
    raise invalid(pointer, f"{str(value)[:100]!r} is neither true nor false: write true or false, yes or no, 1 or 0")


def text_of(value: Scalar, pointer: str) -> str:
    """Text that is not blank. Raises InvalidInput."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if not text.strip(" "):
        raise invalid(pointer, "blank text is not a value: use is_null to find rows without one")
    return text


def interval_of(
    value: Scalar, kind: Kind, today: datetime.date, pointer: str, fiscal_year_start: int | None = None
) -> Interval:
    """The days that a date, a period as groups show it, or `today` names; of a datetime, also one moment. Fiscal years begin with
    the month `fiscal_year_start`. Raises InvalidInput.
    """
    text = str(value).strip()
    fiscal = _FISCAL.fullmatch(text)
    if fiscal and fiscal_year_start is None:
        raise undeclared(f"“{text}”", "fiscal_year_start", pointer)
    try:
        days = _fiscal(fiscal, today, fiscal_year_start) if fiscal and fiscal_year_start else _days_of(text, today)
        if days is not None and not isinstance(value, bool):
            return Interval(*(day.isoformat() for day in days))
        if kind == "datetime" and not isinstance(value, int | float):
            return Interval(_moment(text), None)
    except (ValueError, OverflowError):
        pass
    raise invalid(
        pointer,
        f"{text[:100]!r} is not a date: write 2026-10-03, a period as 2026-W40, 2026-10, 2026-Q4 or 2026, today, today-30d,"
        f" today-1m, or last month{', FY2026, FY2026-Q4 or last fiscal year' if fiscal_year_start else ''}",
    )


def _fiscal(fiscal: re.Match[str], today: datetime.date, start: int) -> tuple[datetime.date, datetime.date] | None:
    """The same of a fiscal year or quarter: those of the calendar, so many months earlier. A year is called by where it ends."""
    later = (13 - start) % 12
    days = _days_of(f"{fiscal[1] or ''}{fiscal[2]}", shifted(today, "month", later))
    return days and (shifted(days[0], "month", -later), shifted(days[1], "month", -later))


def _days_of(text: str, today: datetime.date) -> tuple[datetime.date, datetime.date] | None:
    """The first day, and the day after the last."""
    if found := _RELATIVE.fullmatch(text):
        day = shifted(today, _UNITS[found[2] or "d"], int(found[1] or 0))
        return day, day + DAY
    if found := _NAMED.fullmatch(text):
        return _named_period(today, _AWAY[found[1].lower()], found[2].lower())
    found = _PERIOD.fullmatch(text)
    if found is None:
        return None
    year, month, day_of_month, week, quarter = (int(part) if part else None for part in found.groups())
    assert year is not None
    if week is not None:
        monday = datetime.date.fromisocalendar(year, week, 1)
        return monday, monday + 7 * DAY
    if day_of_month is not None and month is not None:
        day = datetime.date(year, month, day_of_month)
        return day, day + DAY
    first, months = (month, 1) if month else (quarter * 3 - 2, 3) if quarter else (1, 12)
    start, last = days_of(year, first, months)
    return start, last + DAY


def _named_period(today: datetime.date, away: int, period: str) -> tuple[datetime.date, datetime.date]:
    """The first day of the period so many away from that of today, and the day after its last."""
    first, _, _ = around(today, period)
    start, last, _ = around(shifted(first, period, away), period)
    return start, last + DAY


def period_start(day: datetime.date, period: str, away: int = 0) -> datetime.date:
    """The first day of the period so many away from that of a day. Raises ValueError and OverflowError beyond the calendar."""
    return _named_period(day, away, period)[0]


def _moment(text: str) -> str:
    """A moment as Postgres reads it: without a time zone in that of the session, else in UTC, which columns without one take."""
    moment = datetime.datetime.fromisoformat(text)
    return (moment if moment.tzinfo is None else moment.astimezone(datetime.UTC)).isoformat()


def period_name(day: datetime.date, period: str) -> str:
    """How a period that begins on `day` is shown: `2026-10-03`, `2026-W40`, `2026-10`, `2026-Q4` or `2026`."""
    match period:
        case "week":
            year, week, _ = day.isocalendar()
            return f"{year:04d}-W{week:02d}"
        case "month":
            return f"{day.year:04d}-{day.month:02d}"
        case "quarter":
            return f"{day.year:04d}-Q{(day.month + 2) // 3}"
        case "year":
            return f"{day.year:04d}"
        case _:
            return day.isoformat()
