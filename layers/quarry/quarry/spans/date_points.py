"""Single times as people write them: days, months, quarters, halves, seasons, years, decades, and times relative to a day."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from quarry.language.recognition import Language
from quarry.language.word_forms import is_everyday
from quarry.language.writing import Grain, numeral_value
from quarry.platform.days import around, days_of, shifted
from quarry.spans.time_words import FEW, TimeWords, listed_form, one_of, time_words

YEAR_MIN, YEAR_MAX = 1000, 2999
BARE_YEAR_MIN, BARE_YEARS_AHEAD = 1900, 20
"""A bare number is probably a year from this one until this many years after the reference day."""

YEAR = r"(?<![\d.,$€£₹¥#])(?:[12]\d{3})(?![\w%]|\s%|[.,]\d)"
_SHORT_YEAR = r"['’]\d{2}\b"
_DECADES = {
    name: 10 * number
    for number, name in enumerate("twenties thirties forties fifties sixties seventies eighties nineties".split(), 2)
}


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


def find_points(text: str, today: datetime.date, languages: tuple[Language, ...]) -> list[Point]:
    """The times in a text without accents, in order, without overlaps. Relative ones count from `today`."""
    points: list[Point] = []
    covered = bytearray(len(text))
    words = time_words(languages)
    for pattern, reader in _patterns(languages):
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(covered[start:end]):
                continue
            try:
                point = reader(match, today, words)
            except (ValueError, OverflowError):
                # neither such a day nor such a month exists
                covered[start:end] = b"\1" * (end - start)
                continue
            if point:
                points.append(point)
                covered[start:end] = b"\1" * (end - start)
    return sorted(points, key=lambda point: point.start)


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


def _months(match: re.Match[str], year: str | None, month: int, count: int, grain: Grain, words: TimeWords) -> Point:
    """`count` months starting with `month`, of `year` or of any year."""
    if year:
        return Point(*match.span(), *days_of(_full_year(year), month, count), grain)
    months = tuple((month - 1 + place) % 12 + 1 for place in range(count))
    is_latent = words.is_english and is_everyday(match.group().lower().rstrip("."))
    return Point(*match.span(), None, None, grain, months, is_latent=is_latent)


def _full_year(year: str) -> int:
    """ "'98" is 1998 and "'21" 2021."""
    if len(year) == 4:
        return int(year)
    short = int(year[-2:])
    return 2000 + short if short < 50 else 1900 + short


def _month(match: re.Match[str], words: TimeWords) -> int:
    """The number of the month that is named."""
    name = listed_form(match["month"])
    return words.months.get(name) or words.short_months[name]


def _month_of(match: re.Match[str], today: datetime.date, words: TimeWords) -> Point:
    return _months(match, match.groupdict().get("year"), _month(match, words), 1, "month", words)


def _numeric_day(match: re.Match[str], today: datetime.date, words: TimeWords) -> Point:
    """Day before month, unless only the other order is a valid date."""
    day, month = (match[1], match[2]) if int(match[2]) <= 12 else (match[2], match[1])
    return _day(match, match[3], int(month), day)


def _month_and_day(match: re.Match[str], today: datetime.date, words: TimeWords) -> Point:
    month, day, year = _month(match, words), match["day"], match["year"]
    if year:
        return _day(match, year, month, day)
    number = int(re.sub(r"\D", "", day))
    datetime.date(2000, month, number)
    is_latent = match["month"] == "may" and day.isdigit()
    return Point(*match.span(), None, None, "day", (month,), number, is_latent)


def _days_of_month(match: re.Match[str], today: datetime.date, words: TimeWords) -> Point | None:
    """March 4-5; but not 5-4, which is a vote, for example."""
    month = _month(match, words)
    year = match["year"] or str(today.year)
    first, last = _day(match, year, month, match["first"]), _day(match, year, month, match["last"])
    if not (first.first and last.last and first.first <= last.last):
        return None
    return Point(*match.span(), first.first, last.last, "day")


def _week(match: re.Match[str], today: datetime.date, words: TimeWords) -> Point:
    """A week by its ISO 8601 number."""
    first = datetime.date.fromisocalendar(int(match["year"]), int(match["week"]), 1)
    return Point(*match.span(), first, first + datetime.timedelta(days=6), "week")


def _season(match: re.Match[str], today: datetime.date, words: TimeWords) -> Point:
    return _months(match, match[2], words.seasons[listed_form(match[1])], 3, "quarter", words)


def _quarter(match: re.Match[str], today: datetime.date, words: TimeWords) -> Point:
    parts = match.groupdict()
    number = int(parts["short"] or parts.get("behind") or _ordinal(parts["ordinal"], words))
    return _months(match, parts["year"] or parts.get("before"), 3 * number - 2, 3, "quarter", words)


def _ordinal(text: str, words: TimeWords) -> int:
    return int(text[0]) if text[0].isdigit() else words.ordinals[listed_form(text)]


def _half(match: re.Match[str], today: datetime.date, words: TimeWords) -> Point | None:
    number = int(match["short"] or min(_ordinal(match["ordinal"], words), 2))
    return _months(match, match["year"], 6 * number - 5, 6, "month", words)


def _decade(match: re.Match[str], today: datetime.date, words: TimeWords) -> Point | None:
    """ "The 1800s" is a century; "the 20s" is the most recent such decade that has started."""
    word = match[1].lower()
    if len(word) == 4:
        first = int(word)
        years = 100 if first % 100 == 0 and first != 2000 else 10
    else:
        first = today.year // 100 * 100 + (_DECADES.get(word) or int(word))
        first, years = first - 100 if first > today.year else first, 10
    return Point(*match.span(), datetime.date(first, 1, 1), datetime.date(first + years - 1, 12, 31), "year")


def _century(match: re.Match[str], today: datetime.date, words: TimeWords) -> Point | None:
    first = 100 * (int(match[1]) - 1)
    if not YEAR_MIN <= first <= YEAR_MAX:
        return None
    return Point(*match.span(), datetime.date(first + 1, 1, 1), datetime.date(first + 100, 12, 31), "year")


def _short_span(match: re.Match[str], today: datetime.date, words: TimeWords) -> Point | None:
    """2017–19; not 2020-02, which is a month."""
    if match[2] <= match[1][2:]:
        return None
    last = int(match[1][:2] + match[2])
    return Point(*match.span(), datetime.date(int(match[1]), 1, 1), datetime.date(last, 12, 31), "year")


def _year(match: re.Match[str], today: datetime.date, words: TimeWords) -> Point:
    is_likely = BARE_YEAR_MIN <= int(match[1]) <= today.year + BARE_YEARS_AHEAD
    return Point(*match.span(), *days_of(int(match[1]), 1, 12), "year", is_latent=not is_likely)


def _rolling(match: re.Match[str], today: datetime.date, words: TimeWords) -> Point:
    """ "The past 30 days", "the last two years", "the next month" to the day."""
    near, unit = _near_and_noun(match)
    return _around_today(match, today, words.near[near], _count(match["count"], words), _unit(unit, words))


def _around_today(match: re.Match[str], today: datetime.date, near: int, count: int, unit: str) -> Point:
    other = shifted(today, unit, near * count)
    return Point(*match.span(), min(today, other), max(today, other), "day")


def _near_and_noun(match: re.Match[str]) -> tuple[str, str]:
    """The word that says which one is meant, and what it belongs to, whichever comes first."""
    return listed_form(match["near"] or match["follows"]), listed_form(match["noun"] or match["led"])


def _unit(word: str, words: TimeWords) -> str:
    return words.units.get(word) or words.plurals[word]


def _count(text: str, words: TimeWords) -> int:
    word = listed_form(text)
    return words.counts.get(word) or int(numeral_value(word) or 1)


def _calendar_unit(match: re.Match[str], today: datetime.date, words: TimeWords) -> Point | None:
    """ "Last year", "this month", "next quarter"; "the past year" and "letzte Jahre" to the day."""
    near, noun = _near_and_noun(match)
    unit, away = _unit(noun, words), words.near[near]
    if not words.several.isdisjoint((near, noun)):
        return _around_today(match, today, away, FEW, unit) if away else None
    if near in words.rolling or (away < 0 and unit == "decade"):
        return _around_today(match, today, away, 1, unit)
    return _calendar(match, today, unit, away)


def _calendar(match: re.Match[str], today: datetime.date, unit: str, away: int) -> Point:
    first, _, _ = around(today, unit)
    first, last, grain = around(shifted(first, unit, away), unit)
    return Point(*match.span(), first, last, grain)


def _unit_before(match: re.Match[str], today: datetime.date, words: TimeWords) -> Point:
    return _calendar(match, today, words.before[listed_form(match.group())], -1)


def _ago(match: re.Match[str], today: datetime.date, words: TimeWords) -> Point:
    unit = _unit(listed_form(match["unit"]), words)
    day = shifted(today, unit, -_count(match["count"], words))
    first, last, grain = around(day, "year" if unit == "decade" else unit)
    return Point(*match.span(), first, last, grain)


def _near_month(match: re.Match[str], today: datetime.date, words: TimeWords) -> Point | None:
    """ "Last March", "this summer"."""
    near, name = _near_and_noun(match)
    month, count = (words.seasons[name], 3) if name in words.seasons else (words.months[name], 1)
    year, away = today.year, words.near[near]
    if away and (month >= today.month) == (away < 0):
        year += away
    first, last = days_of(year, month, count)
    return Point(*match.span(), first, last, "quarter" if count == 3 else "month")


def _named_day(match: re.Match[str], today: datetime.date, words: TimeWords) -> Point | None:
    if match.start() and match.group()[0].isupper() and not words.is_english:
        # "am Morgen"
        return None
    away = words.away[listed_form(match.group())]
    day = today + datetime.timedelta(days=away)
    return Point(*match.span(), day, day, "day", is_latent=not away, is_vague=not away)


def _weekday(match: re.Match[str], today: datetime.date, words: TimeWords) -> Point:
    """ "Monday" is its last occurrence, including today; "last Monday" is before today, "next Monday" after it."""
    days = words.weekdays[listed_form(match["weekday"])] - 1 - today.weekday()
    which, week = (words.near.get(listed_form(each)) for each in (match["which"] or match["follows"], match["week"]))
    if which == 1:
        days = days % 7 or 7
    elif which is None and week is not None:
        days += 7 * week
    elif which != 0:
        days = days % 7 - 7 if which or days else 0
    day = today + datetime.timedelta(days=days)
    is_latent = which is None and week is None
    return Point(*match.span(), day, day, "day", is_latent=is_latent, is_weekday=is_latent)


def _recently(match: re.Match[str], today: datetime.date, words: TimeWords) -> Point:
    return Point(*match.span(), shifted(today, "year", -1), today, "day", is_latent=True, is_vague=True)


_Reader = Callable[[re.Match[str], datetime.date, TimeWords], Point | None]
_Forms = tuple[tuple[str, _Reader], ...]


@cache
def _patterns(languages: tuple[Language, ...]) -> tuple[tuple[re.Pattern[str], _Reader], ...]:
    """The patterns to look for, longest forms first."""
    words = time_words(languages)
    readers = (*_dates(words), *_periods(words), *_relative(words), *_bare(words))
    return tuple((re.compile(pattern, re.IGNORECASE), reader) for pattern, reader in readers)


def article(words: TimeWords) -> str:
    """A pattern for an article with the white space behind it."""
    return rf"(?:{one_of(words.listed('articles'))}(?:\s++|(?<=['’])))"


def _of_year(words: TimeWords) -> str:
    year = rf"(?:{YEAR}|{_SHORT_YEAR})"
    return rf"(?:\s*+,?\s*+(?:{one_of(words.listed('of'))}\s++){{0,2}}(?P<year>{year}))"


def _dates(words: TimeWords) -> _Forms:
    """Days and months that are named or numbered."""
    of_year, of, the = _of_year(words), one_of(words.listed("of")), article(words)
    start, between, to, both = (one_of(words.listed(name)) for name in ("from", "between", "to", "and"))
    sign = one_of(words.day_signs)
    day = rf"(?<![\d.,/$€£₹¥-])(?:[12]\d|3[01]|0?[1-9]){sign}?(?![\w.:/%])"
    month = rf"(?P<month>{one_of((*words.months, *words.short_months))}\b\.?)"
    of_month = rf"\s++(?:{of}\s++)?{month}{of_year}?"
    month_first = (
        (rf"\b{month}\s*+(?P<first>{day})\s?[-–]\s?(?P<last>[0-3]?\d)\b{of_year}?", _days_of_month),
        (rf"\b{month}\s*+{the}?(?P<day>{day}){of_year}?", _month_and_day),
    )
    return (
        (
            r"(?<![\w.-])([12]\d{3})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)(?:[T ]\d\d:\d\d[\d:.Z+]{0,20})?",
            lambda match, today, words: _day(match, match[1], int(match[3]), match[4]),
        ),
        (r"(?<![\w.-])(\d{1,2})[-/.](\d{1,2})[-/.]([12]\d{3})(?!\d)", _numeric_day),
        *month_first[: words.may("month_first")],
        (
            rf"(?:\b{start}\s++{the}?)?(?P<first>{day})\s?(?:[-–]|{to})\s?(?P<last>[0-3]?\d{sign}?){of_month}",
            _days_of_month,
        ),
        (
            rf"\b{between}\s++{the}?(?P<first>{day})\s++{both}\s++{the}?(?P<last>[0-3]?\d{sign}?){of_month}",
            _days_of_month,
        ),
        *month_first[1 : 1 + words.may("month_first")],
        (rf"(?P<day>{day})\s*+(?:{of}\s++)?{month}{of_year}?", _month_and_day),
        (rf"\b{month}{of_year}", _month_of),
        (
            r"(?<![\w.-])([12]\d{3})[-/](0[1-9]|1[0-2])(?![\d/-])",
            lambda match, today, words: _months(match, match[1], int(match[2]), 1, "month", words),
        ),
        (
            r"(?<![\w./-])(0?[1-9]|1[0-2])/([12]\d{3})(?![\d/-])",
            lambda match, today, words: _months(match, match[2], int(match[1]), 1, "month", words),
        ),
    )


def _periods(words: TimeWords) -> _Forms:
    """Quarters, weeks, halves, seasons, decades and centuries that are named or numbered."""
    of_year, of = _of_year(words), one_of(words.listed("of"))
    ordinal = rf"(?P<ordinal>{one_of(words.ordinals)}|[1-4]{one_of(words.day_signs)})"
    quarter, week = (one_of(form for form, unit in words.units.items() if unit == name) for name in ("quarter", "week"))
    half = one_of(("h", *words.listed("half_letter")))
    return (
        (
            r"(?<![\w.,-])(?P<before>[12]\d{3})[\s-]?q(?P<behind>[1-4])\b"
            rf"|(?:\bq(?P<short>[1-4])\b|\b{ordinal}\s++{quarter}\b)"
            rf"(?:[\s-]?{of_year})?",
            _quarter,
        ),
        (rf"\b{one_of(words.listed('quarter_letter'))}(?P<short>[1-4])\b[\s-]?{of_year}", _quarter),
        (r"(?<![\w.-])(?P<year>[12]\d{3})[\s-]?w(?P<week>\d\d)\b", _week),
        (rf"\b{week}\s++(?P<week>\d{{1,2}})\s*+[,/]?\s*+(?:{of}\s++)?(?P<year>{YEAR})", _week),
        (rf"(?:\b{half}(?P<short>[12])\b|\b{ordinal}\s++{one_of(words.listed('half'))}\b){of_year}", _half),
        (rf"\b({one_of(words.seasons)})\s++(?:{of}\s++)?({YEAR}|{_SHORT_YEAR})", _season),
        (r"\b(1[1-9]|2\d)(?:st|nd|rd|th)[\s-]century\b", _century),
        (rf"(?<![\w.,$€£₹-]){article(words)}?([12]\d\d0){one_of(words.listed('decade_signs'))}\b", _decade),
        (r"(?:\bthe\s++(?:(?:early|mid|late)[\s-]++)?['’]?|['’])([2-9]0)['’]?s\b", _decade),
        (rf"\bthe\s++({'|'.join(_DECADES)})\b", _decade),
        (r"(?<![\w.,$€£₹-])([12]\d{3})[-–—/](\d\d)(?![\w/-])", _short_span),
    )


def _relative(words: TimeWords) -> _Forms:
    """Times that count from today."""
    the, of = article(words), one_of((*words.listed("of"), *words.listed("articles")))
    near, follows = one_of(words.near), one_of(words.following)
    moved = one_of(word for word, away in words.near.items() if away)
    count = rf"(?P<count>\d{{1,4}}|{one_of(words.counts)})"
    unit = rf"(?P<unit>{one_of((*words.units, *words.plurals))})\b"
    a_unit = one_of((*words.units, *words.several.intersection(words.plurals)))
    units = one_of((*words.units, *words.plurals))
    week = one_of(form for form, name in words.units.items() if name == "week")
    after_count = rf"\b{the}?{count}\s++(?P<near>{moved})\s++(?P<noun>{units})\b(?P<led>)(?P<follows>)"
    month_or_season = rf"(?:{one_of(words.months)}\b\.?|{one_of(words.seasons)}\b)"
    return (
        (
            rf"\b(?:{the}?(?P<which>{near})\s++)?(?P<weekday>{one_of(words.weekdays)})\b(?!\.\w)"
            rf"(?:\s++(?P<follows>{follows})\b|(?:\s++{of}){{0,2}}+\s++(?P<week>{near})\s++{week}\b)?",
            _weekday,
        ),
        (rf"\b{the}?(?P<near>{moved})\s++{count}\s++(?P<noun>{units})\b(?P<led>)(?P<follows>)", _rolling),
        *(((after_count, _rolling),) if words.may("adjectives_follow") else ()),
        (rf"{_beside(words, near, a_unit)}(?:{one_of(words.listed('ending'))}(?!\w))?", _calendar_unit),
        (rf"\b{one_of(words.before)}\b", _unit_before),
        (rf"\b{count}\s++{unit}\s++{one_of(words.listed('ago'))}\b", _ago),
        (rf"\b{one_of(words.listed('ago_before'))}\s++{count}\s++{unit}", _ago),
        (_beside(words, near, month_or_season), _near_month),
        (rf"\b{one_of(words.away)}\b", _named_day),
        (rf"\b{one_of(words.listed('recently'))}\b", _recently),
    )


def _beside(words: TimeWords, near: str, noun: str) -> str:
    """A pattern for a noun with the word before or behind it that says which one is meant."""
    follows = one_of(words.following)
    return rf"\b{article(words)}?(?:(?P<near>{near})\s++(?P<noun>{noun})\b|(?P<led>{noun})\s++(?P<follows>{follows})\b)"


def _bare(words: TimeWords) -> _Forms:
    """A year, month or season on its own."""
    others = words.listed("not_alone")
    return (
        (rf"\b(?:fy\s?)?({YEAR})", _year),
        (rf"\b(?P<month>{one_of(words.months)}\b\.?|{one_of(words.short_months)}\.)", _month_of),
        (rf"\b({one_of(each for each in words.seasons if each not in others)})()\b", _season),
    )
