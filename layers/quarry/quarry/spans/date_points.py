"""Single times as people write them: days, months, quarters, halves, seasons, years, decades, and times relative to a day."""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from quarry.language.word_forms import is_everyday
from quarry.language.writing import Grain, numeral_value
from quarry.platform.days import around, days_of, shifted

YEAR_MIN, YEAR_MAX = 1000, 2999
BARE_YEAR_MIN, BARE_YEARS_AHEAD = 1900, 20
"""A bare number is probably a year from this one until this many years after the reference day."""

MONTH_NAMES = tuple(name.lower() for name in calendar.month_name[1:])
WEEKDAYS = tuple(name.lower() for name in calendar.day_name)
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?"
    r"|dec(?:ember)?)\b\.?"
)
YEAR = r"(?<![\d.,$€£₹¥#])(?:[12]\d{3})(?![\w%]|\s%|[.,]\d)"
_SHORT_YEAR = r"['’]\d{2}\b"
_DAY = r"(?<![\d.,/$€£₹¥-])(?:[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?(?![\w.:/%])"
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}
_DECADES = {
    name: 10 * number
    for number, name in enumerate("twenties thirties forties fifties sixties seventies eighties nineties".split(), 2)
}
_UNIT = r"(days?|weeks?|months?|quarters?|years?|decades?)\b"
_COUNT = r"(\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|few|couple(?:\s++of)?)"
_FEW = {"few": 3, "couple": 2, "couple of": 2, "a": 1, "an": 1}


class Point(NamedTuple):
    """A time at `text[start:end]`: the days from `first` to `last`. If no year is given: `months` of any year, or `day` in one.

    `is_latent`: the words may mean something else, unless nearby words say that it is a time. `is_vague`: even then.
    """

    start: int
    end: int
    first: datetime.date | None
    last: datetime.date | None
    grain: Grain
    months: tuple[int, ...] = ()
    day: int | None = None
    is_latent: bool = False
    is_weekday: bool = False
    is_vague: bool = False


def find_points(text: str, today: datetime.date) -> list[Point]:
    """The times in a text, in order, without overlaps. Relative ones count from `today`."""
    found: list[Point] = []
    taken = bytearray(len(text))
    for pattern, read in _patterns():
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(taken[start:end]):
                continue
            try:
                point = read(match, today)
            except (ValueError, OverflowError):
                # neither such a day nor such a month exists
                taken[start:end] = b"\1" * (end - start)
                continue
            if point:
                found.append(point)
                taken[start:end] = b"\1" * (end - start)
    return sorted(found, key=lambda point: point.start)


def in_year(point: Point, year: int) -> Point:
    """A time without a year, in the given one. Raises ValueError."""
    month = point.months[0]
    if point.day:
        first = last = datetime.date(year, month, point.day)
    else:
        first, last = days_of(year, month, len(point.months))
    return Point(point.start, point.end, first, last, point.grain)


def latest(point: Point, today: datetime.date) -> Point:
    """A time without a year, at its last occurrence. Raises ValueError."""
    this = in_year(point, today.year)
    return this if this.first and this.first <= today else in_year(point, today.year - 1)


def _day(match: re.Match[str], year: str, month: int, day: str) -> Point:
    date = datetime.date(_full_year(year), month, int(re.sub(r"\D", "", day)))
    return Point(*match.span(), date, date, "day")


def _months(match: re.Match[str], year: str | None, month: int, count: int, grain: Grain) -> Point:
    """`count` months starting with `month`, of `year` or of any year."""
    if year:
        return Point(*match.span(), *days_of(_full_year(year), month, count), grain)
    months = tuple((month - 1 + place) % 12 + 1 for place in range(count))
    return Point(*match.span(), None, None, grain, months, is_latent=is_everyday(match.group().lower().rstrip(".")))


def _full_year(year: str) -> int:
    """ "'98" is 1998 and "'21" 2021."""
    if len(year) == 4:
        return int(year)
    short = int(year[-2:])
    return 2000 + short if short < 50 else 1900 + short


def _month_number(name: str) -> int:
    return next(n for n, full in enumerate(MONTH_NAMES, 1) if full.startswith(name[:3].lower()))


def _numeric_day(match: re.Match[str], today: datetime.date) -> Point:
    """Day before month, unless only the other order is a valid date."""
    day, month = (match[1], match[2]) if int(match[2]) <= 12 else (match[2], match[1])
    return _day(match, match[3], int(month), day)


def _month_and_day(match: re.Match[str], today: datetime.date) -> Point:
    month, day, year = _month_number(match["month"]), match["day"], match["year"]
    if year:
        return _day(match, year, month, day)
    number = int(re.sub(r"\D", "", day))
    datetime.date(2000, month, number)
    is_latent = match["month"] == "may" and day.isdigit()
    return Point(*match.span(), None, None, "day", (month,), number, is_latent)


def _days_of_month(match: re.Match[str], today: datetime.date) -> Point | None:
    """March 4-5; but not 5-4, which is a vote, for example."""
    month = _month_number(match["month"])
    year = match["year"] or str(today.year)
    first, last = _day(match, year, month, match["first"]), _day(match, year, month, match["last"])
    if not (first.first and last.last and first.first <= last.last):
        return None
    return Point(*match.span(), first.first, last.last, "day")


def _week(match: re.Match[str], today: datetime.date) -> Point:
    """A week by its ISO 8601 number."""
    first = datetime.date.fromisocalendar(int(match["year"]), int(match["week"]), 1)
    return Point(*match.span(), first, first + datetime.timedelta(days=6), "week")


def _season(match: re.Match[str], today: datetime.date) -> Point:
    return _months(match, match[2], SEASONS[match[1].lower()], 3, "quarter")


def _quarter(match: re.Match[str], today: datetime.date) -> Point:
    number = match["short"] or match["behind"] or str(_ORDINALS[match["ordinal"].lower()])
    return _months(match, match["year"] or match["before"], 3 * int(number) - 2, 3, "quarter")


def _half(match: re.Match[str], today: datetime.date) -> Point | None:
    number = int(match["short"] or min(_ORDINALS[match["ordinal"].lower()], 2))
    return _months(match, match["year"], 6 * number - 5, 6, "month")


def _decade(match: re.Match[str], today: datetime.date) -> Point | None:
    """ "The 1800s" is a century; "the 20s" is the most recent such decade that has started."""
    word = match[1].lower()
    if len(word) == 4:
        first = int(word)
        years = 100 if first % 100 == 0 and first != 2000 else 10
    else:
        first = today.year // 100 * 100 + (_DECADES.get(word) or int(word))
        first, years = first - 100 if first > today.year else first, 10
    return Point(*match.span(), datetime.date(first, 1, 1), datetime.date(first + years - 1, 12, 31), "year")


def _century(match: re.Match[str], today: datetime.date) -> Point | None:
    first = 100 * (int(match[1]) - 1)
    if not YEAR_MIN <= first <= YEAR_MAX:
        return None
    return Point(*match.span(), datetime.date(first + 1, 1, 1), datetime.date(first + 100, 12, 31), "year")


def _short_span(match: re.Match[str], today: datetime.date) -> Point | None:
    """2017–19; not 2020-02, which is a month."""
    if match[2] <= match[1][2:]:
        return None
    last = int(match[1][:2] + match[2])
    return Point(*match.span(), datetime.date(int(match[1]), 1, 1), datetime.date(last, 12, 31), "year")


def _year(match: re.Match[str], today: datetime.date) -> Point:
    is_likely = BARE_YEAR_MIN <= int(match[1]) <= today.year + BARE_YEARS_AHEAD
    return Point(*match.span(), *days_of(int(match[1]), 1, 12), "year", is_latent=not is_likely)


def _rolling(match: re.Match[str], today: datetime.date) -> Point:
    """ "The past 30 days", "the last two years", "the next month" to the day."""
    count, unit = _count(match[2]), match[3].lower().rstrip("s")
    if match[1].lower() in ("next", "coming"):
        return Point(*match.span(), today, shifted(today, unit, count), "day")
    return Point(*match.span(), shifted(today, unit, -count), today, "day")


def _count(text: str | None) -> int:
    word = " ".join((text or "one").lower().split())
    return _FEW.get(word) or int(numeral_value(word) or 1)


def _calendar_unit(match: re.Match[str], today: datetime.date) -> Point:
    """ "Last year", "this month", "next quarter"."""
    unit = match[2].lower()
    count = {"this": 0, "current": 0, "next": 1, "coming": 1}.get(match[1].lower(), -1)
    first, _, _ = around(today, unit)
    first, last, grain = around(shifted(first, unit, count), unit)
    return Point(*match.span(), first, last, grain)


def _ago(match: re.Match[str], today: datetime.date) -> Point:
    unit = match[2].lower().rstrip("s")
    day = shifted(today, unit, -_count(match[1]))
    first, last, grain = around(day, "year" if unit == "decade" else unit)
    return Point(*match.span(), first, last, grain)


def _near_month(match: re.Match[str], today: datetime.date) -> Point | None:
    """ "Last March", "this summer"."""
    name = match[2].lower()
    month, count = (SEASONS[name], 3) if name in SEASONS else (_month_number(name), 1)
    year = today.year
    if match[1].lower() != "this" and (month >= today.month) == (match[1].lower() != "next"):
        year += 1 if match[1].lower() == "next" else -1
    first, last = days_of(year, month, count)
    return Point(*match.span(), first, last, "quarter" if count == 3 else "month")


def _named_day(match: re.Match[str], today: datetime.date) -> Point:
    away = {"yesterday": -1, "tomorrow": 1}.get(match[2].lower(), 0) * (2 if match[1] else 1)
    day = today + datetime.timedelta(days=away)
    return Point(*match.span(), day, day, "day", is_latent=not away, is_vague=not away)


def _weekday(match: re.Match[str], today: datetime.date) -> Point:
    """ "Monday" is its last occurrence, including today; "last Monday" is before today, "next Monday" after it."""
    which, days = (match["which"] or "").lower(), WEEKDAYS.index(match["weekday"].lower()) - today.weekday()
    if which in ("next", "coming"):
        days = days % 7 or 7
    elif which == "" and match["week"]:
        days += 7 * {"this": 0, "next": 1}.get(match["week"].lower(), -1)
    elif which != "this":
        days = days % 7 - 7 if which or days else 0
    day = today + datetime.timedelta(days=days)
    is_latent = not (which or match["week"])
    return Point(*match.span(), day, day, "day", is_latent=is_latent, is_weekday=is_latent)


def _recently(match: re.Match[str], today: datetime.date) -> Point:
    return Point(*match.span(), shifted(today, "year", -1), today, "day", is_latent=True, is_vague=True)


_Read = Callable[[re.Match[str], datetime.date], Point | None]


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], _Read], ...]:
    """The patterns to look for, longest forms first."""
    readers = (*_absolute(), *_relative(), *_bare())
    return tuple((re.compile(pattern, re.IGNORECASE), read) for pattern, read in readers)


def _absolute() -> tuple[tuple[str, _Read], ...]:
    """Times that state their days, months or years."""
    year = rf"(?:{YEAR}|{_SHORT_YEAR})"
    of_year = rf"(?:\s*+,?\s*+(?:(?:of|in)\s++)?(?:the\s++year\s++)?(?P<year>{year}))"
    ordinal = r"(?P<ordinal>first|second|third|fourth|1st|2nd|3rd|4th)"
    seasons = "|".join(SEASONS)
    return (
        (
            r"(?<![\w.-])([12]\d{3})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)(?:[T ]\d\d:\d\d[\d:.Z+]{0,20})?",
            lambda match, today: _day(match, match[1], int(match[3]), match[4]),
        ),
        (r"(?<![\w.-])(\d{1,2})[-/.](\d{1,2})[-/.]([12]\d{3})(?!\d)", _numeric_day),
        (rf"\b(?P<month>{MONTH})\s*+(?P<first>{_DAY})\s?[-–]\s?(?P<last>[0-3]?\d)\b{of_year}?", _days_of_month),
        (rf"(?P<first>{_DAY})\s?(?:[-–]|to)\s?(?P<last>[0-3]?\d)\s++(?P<month>{MONTH}){of_year}?", _days_of_month),
        (rf"\b(?P<month>{MONTH})\s*+(?:the\s++)?(?P<day>{_DAY}){of_year}?", _month_and_day),
        (rf"(?P<day>{_DAY})\s*+(?:of\s++)?(?P<month>{MONTH}){of_year}?", _month_and_day),
        (
            rf"\b({MONTH}){of_year}",
            lambda match, today: _months(match, match["year"], _month_number(match[1]), 1, "month"),
        ),
        (
            r"(?<![\w.-])([12]\d{3})[-/](0[1-9]|1[0-2])(?![\d/-])",
            lambda match, today: _months(match, match[1], int(match[2]), 1, "month"),
        ),
        (
            r"(?<![\w./-])(0?[1-9]|1[0-2])/([12]\d{3})(?![\d/-])",
            lambda match, today: _months(match, match[2], int(match[1]), 1, "month"),
        ),
        (
            r"(?<![\w.,-])(?P<before>[12]\d{3})[\s-]?q(?P<behind>[1-4])\b"
            rf"|(?:\bq(?P<short>[1-4])\b|\b{ordinal}\s++quarter\b)"
            rf"(?:[\s-]?{of_year})?",
            _quarter,
        ),
        (r"(?<![\w.-])(?P<year>[12]\d{3})[\s-]?w(?P<week>\d\d)\b", _week),
        (rf"\bweek\s++(?P<week>\d{{1,2}})\s*+,?\s*+(?:(?:of|in)\s++)?(?P<year>{YEAR})", _week),
        (rf"(?:\bh(?P<short>[12])\b|\b{ordinal}\s++half\b){of_year}", _half),
        (rf"\b({seasons})\s++(?:of\s++)?({year})", _season),
        (r"\b(1[1-9]|2\d)(?:st|nd|rd|th)[\s-]century\b", _century),
        (r"(?<![\w.,$€£₹-])(?:the\s++)?([12]\d\d0)['’]?s\b", _decade),
        (r"(?:\bthe\s++(?:(?:early|mid|late)[\s-]++)?['’]?|['’])([2-9]0)['’]?s\b", _decade),
        (rf"\bthe\s++({'|'.join(_DECADES)})\b", _decade),
        (r"(?<![\w.,$€£₹-])([12]\d{3})[-–—/](\d\d)(?![\w/-])", _short_span),
    )


def _relative() -> tuple[tuple[str, _Read], ...]:
    """Times that count from today."""
    seasons, weekdays = "|".join(SEASONS), "|".join(WEEKDAYS)
    return (
        (
            rf"\b(?:(?:the\s++)?(?P<which>this|last|past|previous|next|coming)\s++)?(?P<weekday>{weekdays})\b(?!\.\w)"
            r"(?:(?>(?:\s++of)?)(?>(?:\s++the)?)\s++(?P<week>this|last|previous|next)\s++week\b)?",
            _weekday,
        ),
        (rf"\b(?:the\s++)?(last|past|previous|next|coming)\s++{_COUNT}\s++{_UNIT}", _rolling),
        (r"\b(?:the\s++)?(past|preceding|last(?=\s++decade))\s++()(day|week|month|quarter|year|decade)\b", _rolling),
        (
            r"\b(?:the\s++)?(this|last|previous|current|next|coming)\s++(week|month|quarter|year|decade)\b(?:['’]s\b)?",
            _calendar_unit,
        ),
        (rf"\b{_COUNT}\s++{_UNIT}\s++ago\b", _ago),
        (rf"\b(last|this|next|past)\s++({MONTH}|(?:{seasons})\b)", _near_month),
        (r"\b(?:the\s++)?(day\s++)(?:before|after)\s++(yesterday|tomorrow)\b", _named_day),
        (r"\b()(today|yesterday|tomorrow)\b", _named_day),
        (r"\b(?:recent(?:ly)?|lately)\b", _recently),
    )


def _bare() -> tuple[tuple[str, _Read], ...]:
    """A year, month or season on its own."""
    return (
        (rf"\b(?:fy\s?)?({YEAR})", _year),
        (rf"\b({MONTH})", lambda match, today: _months(match, None, _month_number(match[1]), 1, "month")),
        (rf"\b({'|'.join(SEASONS)})()\b", _season),
    )
