"""What the words around times add to them ("since March 2020", "from 2015 to 2018", "in the 1990s or later", "early 2020")."""

from __future__ import annotations

import datetime
import re
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from functools import cache

from quarry.language.recognition import possible_languages
from quarry.language.word_forms import Token, is_plural
from quarry.spans.date_points import (
    Point,
    TimeWords,
    article,
    find_points,
    in_year,
    latest,
    listed_form,
    one_of,
    time_words,
    without_marks,
)
from quarry.spans.mention import DateRange, Mention
from quarry.spans.numbers import AND, TO

LEAD_CHARACTERS_MAX = 40
"""The words that bound a time start at most this many characters before it."""

_ONE_DAY = datetime.timedelta(days=1)


def find_dates(text: str, tokens: Sequence[Token], today: datetime.date) -> list[Mention]:
    """The times in a text, in order, without overlaps. Relative ones count from `today`.

    A month without a year is that month of every year; as a bound, it is its last occurrence. A number that may count the next
    noun, and a month's name that is also a common word, are latent unless a word such as "in" or "since" comes before them.
    """
    languages = possible_languages(text)
    words, text = time_words(languages), without_marks(text)
    points = _in_one_year(text, _dated_weekdays(text, find_points(text, today, languages), words), words)
    mentions: list[Mention] = []
    place = 0
    while place < len(points):
        point, (lead, start) = points[place], _lead(text, points[place].start, words)
        place += 1
        point, lead, start = _part_of(text, point, lead, start, words)
        last = points[place] if place < len(points) else None
        try:
            if last and point.is_weekday and last.is_weekday and _joins(text, point, last, lead, words):
                # "open Monday to Friday" means every week
                if lead in ("from", "between"):
                    mentions.append(_weekdays(point, last, start))
                place += 1
                continue
            if last and _joins(text, point, last, lead, words):
                mention = _between(
                    point, last, today, start if lead in ("in", "from", "between", "range") else point.start
                )
                place += 1
            elif now := _until_now().match(text, point.end):
                mention = _mention(_with_year(point, today), start, now.end(), "since")
            else:
                mention = _bounded(text, tokens, point, lead, start, today)
        except (ValueError, OverflowError):
            # no such day
            continue
        mentions.append(mention._replace(is_introduced=lead not in ("", "range")))
    return mentions


def _lead(text: str, start: int, words: TimeWords) -> tuple[str, int]:
    """What the words right before a time say, and where they start."""
    begin = max(0, start - LEAD_CHARACTERS_MAX)
    match = _leads().search(text[begin:start])
    if match is None:
        match = _range_leads(words).search(text[begin:start])
    if match is None or (match.lastgroup == "over" and text[start].isdigit()):
        # "over 2000" compares a number
        return "", start
    return (match.lastgroup or "").replace("over", "in"), begin + match.start()


def _part_of(text: str, point: Point, lead: str, start: int, words: TimeWords) -> tuple[Point, str, int]:
    """The early, middle or late part of a time, and the words before that."""
    part = _parts(words).search(text[max(0, point.start - LEAD_CHARACTERS_MAX) : point.start])
    if part is None or point.first is None or point.last is None or point.first == point.last:
        return point, lead, start
    days = (point.last - point.first).days + 1
    third, which = days // 3, words.parts[listed_form(part[1])]
    first, last = point.first, point.last
    if which == "early":
        last = first + datetime.timedelta(days=third)
    elif which == "late":
        first = last - datetime.timedelta(days=third)
    else:
        first, last = first + datetime.timedelta(days=third), last - datetime.timedelta(days=third)
    if days > 31:
        # thirds of a quarter, a year, a decade are whole months
        first, last = _to_month(first), _to_month(last + _ONE_DAY) - _ONE_DAY
    start = point.start - len(part.group())
    lead, led = _lead(text, start, words)
    return point._replace(start=start, first=first, last=last, grain="month", is_latent=False), lead, led


def _to_month(day: datetime.date) -> datetime.date:
    """The first day of the nearest month start."""
    return (day + datetime.timedelta(days=15)).replace(day=1)


def _dated_weekdays(text: str, points: Sequence[Point], words: TimeWords) -> list[Point]:
    """The points, with a weekday merged into the date that follows it ("Monday, 3 May 2024")."""
    merged: list[Point] = []
    for point in points:
        if (
            merged
            and merged[-1].is_weekday
            and not point.is_weekday
            and point.grain == "day"
            and re.fullmatch(rf",?\s{{1,3}}+{article(words)}?", text[merged[-1].end : point.start], re.IGNORECASE)
        ):
            point = point._replace(start=merged.pop().start)
        merged.append(point)
    return merged


def _in_one_year(text: str, points: Sequence[Point], words: TimeWords) -> list[Point]:
    """The points. Those without a year take the year of the list they are in ("in March, April and May 2024")."""
    dated: list[Point] = []
    year: int | None = None
    begin = len(text)
    for point in reversed(points):
        if not point.months:
            is_named = point.grain in ("day", "month", "quarter") and _YEAR_LAST.search(text, point.start, point.end)
            year = point.last.year if is_named and point.last else None
        elif year and _listed(words).fullmatch(text, point.end, begin):
            with suppress(ValueError):
                point = in_year(point, year)
        else:
            year = None
        dated.append(point)
        begin = point.start
    return dated[::-1]


def _weekdays(first: Point, last: Point, start: int) -> Mention:
    """From one weekday to the last occurrence of another."""
    assert first.first
    assert last.last
    begin = first.first if first.first <= last.last else first.first - datetime.timedelta(days=7)
    return Mention(DateRange(begin, last.last), start, last.end)


def _joins(text: str, first: Point, last: Point, lead: str, words: TimeWords) -> bool:
    """Whether two times are the two ends of a range."""
    gap = text[first.end : last.start]
    to, and_ = _joining(words)
    return bool(to.fullmatch(gap) or (lead == "between" and and_.fullmatch(gap)))


def _between(first: Point, last: Point, today: datetime.date, start: int) -> Mention:
    if first.months and last.months and not (first.day or last.day):
        months = [first.months[0]]
        while months[-1] != last.months[-1]:
            months.append(months[-1] % 12 + 1)
        return Mention(DateRange(months=tuple(months), grain="month"), start, last.end)
    if first.months and last.first:
        # "March to May 2020"
        first = in_year(first, last.first.year)
    first, last = _with_year(first, today), _with_year(last, today)
    assert first.first
    assert first.last
    assert last.first
    assert last.last
    return Mention(
        DateRange(min(first.first, last.first), max(first.last, last.last), grain=last.grain), start, last.end
    )


def _with_year(point: Point, today: datetime.date) -> Point:
    return latest(point, today) if point.months else point


def last_occurrence(days: DateRange, today: datetime.date) -> DateRange:
    """The days of months without a year, where these last were. Raises ValueError."""
    point = latest(Point(0, 0, None, None, days.grain, days.months), today)
    return DateRange(point.first, point.last, grain=days.grain)


def _bounded(text: str, tokens: Sequence[Token], point: Point, lead: str, start: int, today: datetime.date) -> Mention:
    if tail := _tail(text, point, lead):
        is_led = lead in ("in", "from")
        return _mention(_with_year(point, today), start if is_led else point.start, tail.end(), tail.lastgroup or "")
    if lead in ("since", "after", "before", "until", "not before"):
        return _mention(_with_year(point, today), start, point.end, lead)
    if lead in ("between", "range"):
        # bounds of one time, in other languages, are read by fitted weights
        lead, start = "", point.start
    is_latent = (point.is_latent and not lead) or _may_count(text, tokens, point)
    if point.is_vague:
        # "recently", "today"
        is_latent, start = True, point.start
    if point.months and not point.day:
        return Mention(DateRange(months=point.months, grain=point.grain), start, point.end, is_latent=is_latent)
    point = _with_year(point, today)
    return Mention(DateRange(point.first, point.last, grain=point.grain), start, point.end, is_latent=is_latent)


def _tail(text: str, point: Point, lead: str) -> re.Match[str] | None:
    """What the words right after a time say. A bare "on" means "onwards" only after "from" and if nothing follows; otherwise it
    starts something else ("in 2024 on leaflets").
    """
    if point.is_latent and not lead:
        return None
    goes_on = _ON.match(text, point.end) if lead in ("from", "since") else None
    return goes_on or _tails().match(text, point.end)


def _mention(point: Point, start: int, end: int, relation: str) -> Mention:
    assert point.first
    assert point.last
    match relation:
        case "since" | "not before":
            days = DateRange(point.first, None, grain=point.grain)
        case "after":
            days = DateRange(point.last + _ONE_DAY, None, grain=point.grain)
        case "before":
            days = DateRange(None, point.first - _ONE_DAY, grain=point.grain)
        case _:
            days = DateRange(None, point.last, grain=point.grain)
    return Mention(days, start, end)


def _may_count(text: str, tokens: Sequence[Token], point: Point) -> bool:
    """Whether a year in digits may instead count the next word ("in 2000 stores")."""
    if not text[point.start : point.end].isdigit():
        return False
    place = bisect_left(tokens, point.end, key=lambda token: token.start)
    if place == len(tokens) or tokens[place].ends_clause:
        return False
    word = tokens[place].key
    return (len(word) > 3 and is_plural(word)) or word == "people"


_YEAR_LAST = re.compile(r"\b[12]\d{3}\Z")
_ON = re.compile(r"\s{1,3}+(?P<since>on)\b(?!\s{1,3}+\w)", re.IGNORECASE)


@cache
def _parts(words: TimeWords) -> re.Pattern[str]:
    """Words right before a time for a part of it."""
    the, of = article(words), one_of(words.listed("of"))
    return re.compile(rf"\b{the}?({one_of(words.parts)})(?:[\s-]+|\s+{of}\s+){the}?$", re.IGNORECASE)


@cache
def _listed(words: TimeWords) -> re.Pattern[str]:
    """What separates the times of a list."""
    between = one_of(words.listed("and"))
    return re.compile(
        rf"\s{{0,3}}+(?:,|,?\s{{0,3}}+(?:\b{between}(?!\w)|&))\s{{0,3}}+(?:(?:in|on)\s++)?{article(words)}?",
        re.IGNORECASE,
    )


@cache
def _leads() -> re.Pattern[str]:
    """Words that end right before a time."""
    later, earlier = r"(?:later|newer|more\s+recent)", r"(?:earlier|older)"
    return re.compile(
        r"(?:"
        rf"(?P<until>\b(?:until|till|up\s?to|through|by|no(?:t)?\s+{later}\s+than|not\s+after|on\s+or\s+before))"
        rf"|(?P<since>\b(?:since|as\s+(?:of|from)|(?:starting|beginning)(?:\s+(?:in|from|on|with))?|no(?:t)?\s+{earlier}\s+than"
        r"|on\s+or\s+after|(?:not|never)\s+before))"
        rf"|(?P<after>\b(?:after|post|{later}\s+than|following))"
        rf"|(?P<before>\b(?:before|prior\s+to|pre|{earlier}\s+than|ahead\s+of))"
        r"|(?P<between>\bbetween)|(?P<from>\bfrom)|(?P<over>\bover)"
        r"|(?P<in>\b(?:in|during|of|on|around|circa|throughout|within|for|every|each|dated|the\s+year))"
        r")[\s-]+(?:the\s+(?:year|month\s+of|years?\s+of|period)\s+|the\s+)?$",
        re.IGNORECASE,
    )


@cache
def _range_leads(words: TimeWords) -> re.Pattern[str]:
    """Words that end right before a range, in other languages than English."""
    start, between = one_of(words.listed("from")), one_of(words.listed("between"))
    return re.compile(rf"\b(?:(?P<range>{start})|(?P<between>{between}))\s+{article(words)}?$", re.IGNORECASE)


@cache
def _joining(words: TimeWords) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What separates the ends of a range, and after "between"."""
    to, both = (
        re.compile(
            rf"{english.pattern}|\s{{0,3}}+\b{one_of(words.listed(name))}(?!\w)\s{{0,3}}+{article(words)}?",
            re.IGNORECASE,
        )
        for english, name in ((TO, "to"), (AND, "and"))
    )
    return to, both


@cache
def _tails() -> re.Pattern[str]:
    """Words that start right after a time."""
    return re.compile(
        r"\s{0,3}+(?P<since>\+(?!\w)|(?:onwards?|(?:and|or)\s+(?:later|after|afterwards|newer|since|onwards?|more\s+recent))\b"
        r"(?!\s+(?:the|a|an|its?|our|their)\b|\s+(?:\w+\s+)?\d))"
        r"|\s{0,3}+(?P<until>(?:and|or)\s+(?:earlier|before|older)\b(?!\s+(?:\w+\s+)?\d))",
        re.IGNORECASE,
    )


@cache
def _until_now() -> re.Pattern[str]:
    return re.compile(
        r"\s{0,3}+(?:[-–—]|\b(?:to|until|till|through)\b)\s{0,3}+(?:the\s++)?(?:present|now|today|date|current(?:ly)?|this\s+day)\b",
        re.IGNORECASE,
    )
