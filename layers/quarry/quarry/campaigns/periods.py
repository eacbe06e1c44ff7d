"""Periods in plain words, as days.

What is relative counts back from the latest capture: campaigns are collected, not live.
"""

from __future__ import annotations

import calendar
import datetime
import re
from typing import Literal

from quarry.campaigns.contract import DateRange

_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
_MONTHS |= {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "twelve": 12}

_RELATIVE = re.compile(
    r"\b(?:in |over |from |during )?(?:the )?(?:last|past) "
    r"(?:(\d{1,3}|two|three|four|five|six|twelve) )?(day|week|month|year)s?\b"
)
_LAST_QUARTER = re.compile(r"\b(?:in |from )?(?:the )?(last|this) quarter\b")
_THIS_YEAR = re.compile(r"\b(?:in |from )?(?:the )?(this|last) year\b")
_QUARTER = re.compile(
    r"\b(?:in |from )?(?:the )?(?:q([1-4])|(first|second|third|fourth) quarter)(?: of)?(?: (20\d\d))?\b"
)
_MONTH_YEAR = re.compile(rf"\b(?:(in|from|during|since|after|before|until) )?({_MONTH})(?: (20\d\d))\b")
_MONTH_ALONE = re.compile(rf"\b(in|from|during|since|after|before|until) ({_MONTH})\b")
_YEAR = re.compile(r"\b(?:(in|from|during|since|after|before|until) )?(20\d\d)\b")
_BETWEEN = re.compile(rf"\bbetween (?:({_MONTH}) )?(20\d\d) and (?:({_MONTH}) )?(20\d\d)\b")
_RECENT = re.compile(r"\b(recent(ly)?|latest|newest|lately|current(ly)?)\b")

Period = DateRange | Literal["recent"]


def find_period(text: str, latest: datetime.date | None) -> tuple[Period | None, str]:
    """The period that `text` (lower case) names, if any, and the text without it. `latest` is the day to count back from."""
    if latest is None:
        return None, text
    for pattern, read in _READERS:
        if match := pattern.search(text):
            return read(match, latest), f"{text[: match.start()]} {text[match.end() :]}"
    return None, text


def _between(match: re.Match[str], latest: datetime.date) -> Period:
    start, end = _month_or_year(match[1], match[2]), _month_or_year(match[3], match[4])
    return _range(min(start[0], end[0]), max(start[1], end[1]))


def _relative(match: re.Match[str], latest: datetime.date) -> Period:
    amount = _NUMBERS.get(match[1] or "") or int(match[1] or 1)
    return _range(latest - datetime.timedelta(days=amount * _DAYS[match[2]]), latest)


def _quarter_near(match: re.Match[str], latest: datetime.date) -> Period:
    year, quarter = latest.year, (latest.month + 2) // 3
    if match[1] == "last":
        year, quarter = (year - 1, 4) if quarter == 1 else (year, quarter - 1)
    return _range(*_quarter_days(year, quarter))


def _named_quarter(match: re.Match[str], latest: datetime.date) -> Period:
    return _range(*_quarter_days(int(match[3] or latest.year), int(match[1] or _QUARTERS[match[2]])))


def _year_near(match: re.Match[str], latest: datetime.date) -> Period:
    return _range(*_month_or_year(None, str(latest.year - (match[1] == "last"))))


def _month_with_year(match: re.Match[str], latest: datetime.date) -> Period:
    return _bounded(match[1], *_month_or_year(match[2], match[3]))


def _month_alone(match: re.Match[str], latest: datetime.date) -> Period:
    # the last time that this month came round
    month = _MONTHS[match[2]]
    year = latest.year if month <= latest.month else latest.year - 1
    return _bounded(match[1], *_month_or_year(match[2], str(year)))


def _year(match: re.Match[str], latest: datetime.date) -> Period:
    return _bounded(match[1], *_month_or_year(None, match[2]))


def _recent(match: re.Match[str], latest: datetime.date) -> Period:
    return "recent"


_READERS = (
    (_BETWEEN, _between),
    (_LAST_QUARTER, _quarter_near),
    (_THIS_YEAR, _year_near),
    (_RELATIVE, _relative),
    (_QUARTER, _named_quarter),
    (_MONTH_YEAR, _month_with_year),
    (_MONTH_ALONE, _month_alone),
    (_YEAR, _year),
    (_RECENT, _recent),
)


def _bounded(preposition: str | None, start: datetime.date, end: datetime.date) -> DateRange:
    """The range that a preposition makes of a month or year."""
    match preposition:
        case "since":
            return DateRange.between(start)
        case "after":
            return DateRange.between(end + datetime.timedelta(days=1))
        case "before":
            return DateRange.between(None, start - datetime.timedelta(days=1))
        case "until":
            return DateRange.between(None, end)
        case _:
            return _range(start, end)


def _month_or_year(month: str | None, year: str) -> tuple[datetime.date, datetime.date]:
    number = int(year)
    if month is None:
        return datetime.date(number, 1, 1), datetime.date(number, 12, 31)
    first = _MONTHS[month]
    return datetime.date(number, first, 1), datetime.date(number, first, calendar.monthrange(number, first)[1])


def _quarter_days(year: int, quarter: int) -> tuple[datetime.date, datetime.date]:
    last = 3 * quarter
    return datetime.date(year, last - 2, 1), datetime.date(year, last, calendar.monthrange(year, last)[1])


def _range(start: datetime.date, end: datetime.date) -> DateRange:
    return DateRange.between(start, end)
