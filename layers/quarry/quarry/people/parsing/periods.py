"""Dates as people write them: "since March 2020", "2017–19", "before Q3 2021", and what is only said relative to today."""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

YEAR_MIN, YEAR_MAX = 1950, 2099

_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTH = rf"(?:{'|'.join(f'{month[:3]}(?:{month[3:]})?' for month in _MONTHS)}|sept)\b\.?"
_YEAR = r"(?:19[5-9]\d|20\d\d)(?![\d%]|[.,]\d)"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_POINT = (
    rf"(?:{_YEAR}-\d{{2}}-\d{{2}}|{_YEAR}-(?:0\d|1[0-2])(?!\d)|\d{{1,2}}/{_YEAR}|q[1-4]\s*+[,-]?+\s*+{_YEAR}|{_MONTH}\s++{_DAY},?\s++{_YEAR}"
    rf"|(?:{_DAY}\s++)?{_MONTH},?\s*+(?:of\s++)?{_YEAR}|(?:(?:early|mid|late|the\s++year)[\s-]++)?{_YEAR})"
)
_NOW = r"(?:present|now|today|date|current(?:ly)?)\b"
_NUMBER = r"(?:\d+|a|one|two|three|four|five|six|seven|eight|ten|few|couple(?:\s++of)?|several)"
_UNIT = r"(?:years?|yrs?|months?|decades?|quarters?|weeks?)\b"

RELATIVE = re.compile(
    rf"\b(?:(?:in|over|during|within|for|from)\s++)?(?:the\s++)?(?:last|past|previous|recent|coming|next)\s++(?:{_NUMBER}\s++)?{_UNIT}"
    rf"|\b(?:this|last)\s++(?:year|month|quarter)\b|\b{_NUMBER}\s++{_UNIT}\s++ago\b|\brecently\b"
    rf"|\b(?:at\s++least\s++|over\s++|more\s++than\s++|min(?:imum)?(?:\s++of)?\s++|less\s++than\s++|under\s++|up\s*+to\s++)?\d+\s*+\+?+\s*+(?:(?:-|–|to)\s*+\d+\s*+\+?+\s*+)?"
    rf"(?:{_UNIT}|yoe\b)(?:['’])?(?:\s++(?:of\s++)?(?:relevant\s++|work\s++|total\s++)?exp(?:erience)?\b)?",
    re.IGNORECASE,
)
"""A time that depends on today, or a length of time. Such text is kept as it is."""


@dataclass(frozen=True)
class Period:
    """Both days are within it."""

    first: datetime.date
    last: datetime.date


@dataclass(frozen=True)
class TimeMention:
    """A time that `text[start:end]` names; None is an open end."""

    start: int
    end: int
    time_start: datetime.date | None
    time_end: datetime.date | None


def parse_period(text: str) -> Period | None:
    """The days that a date means: a day, a month, a quarter or a year. None where it is none, or impossible."""
    text = text.strip().lower()
    # a time of day says nothing here
    text = re.sub(r"^(\d{4}-\d{2}-\d{2})[t ].*$", r"\1", text)
    year = re.search(r"(?<!\d)(\d{4})(?!\d)", text)
    if year is None or not YEAR_MIN <= int(year[1]) <= YEAR_MAX:
        return None
    try:
        return _period(text, int(year[1]))
    except ValueError:
        return None


def find_times(text: str) -> list[TimeMention]:
    """The times that a text names, in order; none within another."""
    mentions: list[TimeMention] = []
    taken = bytearray(len(text))
    for start, end in relative_times(text):
        taken[start:end] = b"\1" * (end - start)
    for pattern, read in _patterns():
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(taken[start:end]):
                continue
            bounds = read(match)
            if bounds is not None:
                mentions.append(TimeMention(start, end, *bounds))
                taken[start:end] = b"\1" * (end - start)
    return sorted(mentions, key=lambda mention: mention.start)


_Bounds = tuple[datetime.date | None, datetime.date | None]


def _period(text: str, year: int) -> Period | None:
    """Raises ValueError for a date that does not exist."""
    if match := re.fullmatch(r"\d{4}[-/.](\d{1,2})[-/.](\d{1,2})", text):
        return _day(year, int(match[1]), int(match[2]))
    if match := re.fullmatch(r"(\d{1,2})[-/.](\d{1,2})[-/.]\d{4}", text):
        return _day(year, int(match[2]), int(match[1]))
    if match := re.fullmatch(r"\d{4}[-/.](\d{1,2})|(\d{1,2})[-/.]\d{4}", text):
        return _months(year, int(match[1] or match[2]), 1)
    if match := re.fullmatch(r"q([1-4])\s*+[,-]?+\s*+\d{4}|\d{4}\s*+[,-]?+\s*+q([1-4])", text):
        return _months(year, 3 * int(match[1] or match[2]) - 2, 3)
    if match := re.fullmatch(rf"(?:({_DAY})\s++)?({_MONTH}),?\s*+(?:({_DAY}),?\s++)?(?:of\s++)?\d{{4}}", text):
        month = next(n for n, name in enumerate(_MONTHS, start=1) if name.startswith(match[2][:3]))
        day = match[1] or match[3]
        return _day(year, month, int(re.sub(r"\D", "", day))) if day else _months(year, month, 1)
    if re.fullmatch(r"(?:(?:early|mid|late|the\s++year)[\s-]++)?\d{4}", text):
        return _months(year, 1, 12)
    return None


def _day(year: int, month: int, day: int) -> Period:
    return Period(datetime.date(year, month, day), datetime.date(year, month, day))


def _months(year: int, month: int, count: int) -> Period:
    last = month + count - 1
    return Period(datetime.date(year, month, 1), datetime.date(year, last, calendar.monthrange(year, last)[1]))


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], _Bounds | None]], ...]:
    """What to look for, the longest forms first."""
    lead = r"\b(?:(?:between|from|during|in|over|for)\s++)?"
    dash = r"\s*+(?:-|–|—|to|until|till|through|thru|upto|up\s++to)\s*+"
    no_count = r"(?!\s++(?:people|users|customers|stores|staff|employees|members|students|units|patients|beds|rooms|vendors)\b)"
    # a year by itself is one only where no noun follows that it might count
    no_noun = (
        r"(?=\s*+(?:$|[,;:.!?)\]]|(?:and|or|but|with|who|at|in|for|from|as|by|on|to)\b"
        r"|(?:batch|pass\s?outs?|grads?|graduates?|alumni)\b))"
    )
    readers: tuple[tuple[str, Callable[[re.Match[str]], _Bounds | None]], ...] = (
        (
            rf"{lead}({_POINT})(?:{dash}|\s++and\s++|\s*+&\s*+)({_POINT}|{_NOW})",
            lambda match: _span(match[1], match[2]),
        ),
        (
            rf"{lead}({_MONTH})(?:{dash}|\s++and\s++)({_MONTH})\s++({_YEAR})",
            lambda match: _span(f"{match[1]} {match[3]}", f"{match[2]} {match[3]}"),
        ),
        (rf"{lead}((?:19|20)\d\d)\s*+[-–/]\s*+(\d\d)(?![\d/-])", lambda match: _short_span(match[1], match[2])),
        (
            rf"\b(?:since|from|starting(?:\s++(?:in|from))?|beginning(?:\s++in)?)\s++({_POINT})"
            r"(?:\s++(?:on(?:wards?)?|and\s++later)\b|\+)?",
            lambda match: _bound(match[1], lambda period: (period.first, None)),
        ),
        (
            rf"\b({_POINT})(?:\s++(?:onwards?|and\s++later|or\s++later|till\s++date)\b|\+)",
            lambda match: _bound(match[1], lambda period: (period.first, None)),
        ),
        (
            rf"\b(?:after|post|later\s++than)[\s-]++({_POINT})",
            lambda match: _bound(match[1], lambda period: (period.last + datetime.timedelta(days=1), None)),
        ),
        (
            rf"\b(?:before|prior\s++to|pre|earlier\s++than)[\s-]++({_POINT})",
            lambda match: _bound(match[1], lambda period: (None, period.first - datetime.timedelta(days=1))),
        ),
        (
            rf"\b(?:until|till|up\s*+to|through|by|no\s++later\s++than)\s++({_POINT}){no_count}",
            lambda match: _bound(match[1], lambda period: (None, period.last)),
        ),
        (
            r"\b(?:(?:in|during|from|of)\s++)?(?:the\s++)?((?:19[5-9]|20\d)0)['’]?s\b",
            lambda match: _span(match[1], match[1][:3] + "9"),
        ),
        (
            rf"\b(?:in|during|around|circa|throughout|on|(?:class|batch|graduates?|alumni)\s++of)\s++({_POINT})"
            rf"(?:\s++batch\b)?{no_count}",
            lambda match: _bound(match[1], lambda period: (period.first, period.last)),
        ),
        (
            rf"(?<!iso )(?<!\bof )\b({_POINT}){no_noun}",
            lambda match: _bound(match[1], lambda period: (period.first, period.last)),
        ),
    )
    return tuple((re.compile(pattern, re.IGNORECASE), read) for pattern, read in readers)


def _bound(text: str, bounds: Callable[[Period], _Bounds]) -> _Bounds | None:
    period = parse_period(text)
    return bounds(period) if period else None


def _short_span(year: str, end: str) -> _Bounds | None:
    """2017–19; not 2020-02, which is a month."""
    return _span(year, year[:2] + end) if end > year[2:] else None


def _span(start: str, end: str) -> _Bounds | None:
    first = parse_period(start)
    if first is None:
        return None
    if re.fullmatch(_NOW, end.strip(), re.IGNORECASE):
        return first.first, None
    last = parse_period(end)
    if last is None:
        return None
    return min(first.first, last.first), max(first.last, last.last)


def relative_times(text: str) -> Iterator[tuple[int, int]]:
    """Where a text speaks of time relative to today, or of a length of time."""
    return ((match.start(), match.end()) for match in RELATIVE.finditer(text))
