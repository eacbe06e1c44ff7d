"""Single times as people write them: days, months, quarters, halves, seasons, years, decades, and times relative to a day.

The words for times are in `data/times/LANGUAGE.toml`, and the months' names in `language/writing`. A file lists words of one
meaning between commas; a list starts with January, Monday, spring or the first. `articles` and `of` may stand before a time and
its year; `short_months` need their full stop, a day or a year; words that are `not_alone` are other words without a year or a
word such as "last". Adjectives (`this`, `current`, `last`, `next`, `ordinals`) take `endings`, and `plural_endings` for several.
`rolling` is "last" counted to the day. `before` are single words for the last unit ("Vorjahr"); `away` are days by their distance
from today; `ending` may follow a unit ("mois-ci"). With `adjectives_follow`, adjectives may stand behind the noun, and a number
before them ("le mois dernier", "ces 3 derniers mois"). Umlauts may be written with e, and accents left out.
"""

from __future__ import annotations

import datetime
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from quarry.language.recognition import Language
from quarry.language.word_forms import is_everyday
from quarry.language.writing import Grain, number_words, numeral_value, writing_of
from quarry.platform.days import around, days_of, shifted

COUNTED_MAX = 12
"""The largest number in words that counts units of time."""
FEW, COUPLE = 3, 2
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "ae", "Ö": "oe", "Ü": "ue"})


def without_marks(text: str) -> str:
    """A text of the same length, its letters without accents."""
    if text.isascii():
        return text
    return "".join(each if each.isascii() else unicodedata.normalize("NFD", each)[0] for each in text)


def one_of(words: Iterable[str]) -> str:
    """A pattern for any of these words, the longest first; one that never matches without any."""
    forms = sorted(dict.fromkeys(words), key=lambda word: (-len(word), word))
    return f"(?:{'|'.join(map(_pattern, forms))})" if forms else r"(?!)"


def _pattern(word: str) -> str:
    return re.escape(word).replace(r"\ ", r"\s++").replace("'", "['’]")


def listed_form(match: str | None) -> str:
    """Words as they stand in the lists."""
    return " ".join((match or "").lower().replace("’", "'").split()).rstrip(".")


class TimeWords:
    """The words of some languages. Mappings go from a word, in lower case without accents, to what it means."""

    def __init__(self, languages: Sequence[Language]) -> None:
        self._files = [(each, _file_of(each)) for each in languages]
        self.is_english = "english" in languages
        self.months = self._numbered("months")
        for language, _ in self._files:
            names = enumerate(writing_of(language).months, 1)
            self.months |= {form: number for number, name in names for form in _forms(name)}
        self.short_months = self._numbered("short_months")
        self.weekdays = self._numbered("weekdays")
        self.seasons = {word: 3 * number for word, number in self._numbered("seasons").items()}
        self.ordinals = self._numbered("ordinals", "endings", "plural_endings")
        self.day_signs = self.listed("day_signs")
        self.units, self.plurals, self.before = (
            self._by_unit("units"),
            self._by_unit("plurals"),
            self._by_unit("before"),
        )
        self.near = {form: away for name, away in _NEAR for form in self.listed(name, "endings", "plural_endings")}
        self.rolling = frozenset(self.listed("rolling"))
        self.several = frozenset(self._several())
        self.following = {
            word: self.near[word] for name in ("current", "last", "next") for word in self._following(name)
        }
        self.counts = self._counts()
        self.away = {form: int(days) for days, words in self._tables("away") for form in words}
        self.parts = {form: part for part in ("early", "middle", "late") for form in self.listed(part)}

    def listed(self, name: str, *endings: str) -> list[str]:
        """The words under a name, with each ending as well."""
        return [form for _, words in self._files for form in _inflected(words, words.get(name, ""), endings)]

    def may(self, name: str) -> bool:
        """Whether one of the languages has a property."""
        return any(words.get(name) for _, words in self._files)

    def _numbered(self, name: str, *endings: str) -> dict[str, int]:
        return {
            form: number
            for _, words in self._files
            for number, listed in enumerate(words.get(name, ()), 1)
            for form in _inflected(words, listed, endings)
        }

    def _tables(self, name: str) -> Iterator[tuple[str, list[str]]]:
        for _, words in self._files:
            for key, listed in words.get(name, {}).items():
                yield key, _split(listed)

    def _by_unit(self, name: str) -> dict[str, str]:
        return {form: unit for unit, words in self._tables(name) for form in words}

    def _several(self) -> Iterator[str]:
        """The plurals that mean several without a number, where adjectives agree: "in den letzten Jahren", "derniers mois"."""
        for _, words in self._files:
            if words.get("endings"):
                yield from (form for each in words["plurals"].values() for form in _split(each))
                for name in ("last", "next") if words.get("plural_endings") else ():
                    yield from set(_inflected(words, words[name], ["plural_endings"])) - set(_split(words[name]))

    def _following(self, name: str) -> Iterator[str]:
        for _, words in self._files:
            if words.get("adjectives_follow"):
                yield from _inflected(words, words.get(name, ""), ("endings", "plural_endings"))

    def _counts(self) -> dict[str, int]:
        counts: dict[str, int] = number_words(1, COUNTED_MAX)
        for language, _ in self._files:
            counts |= number_words_of(language)
        fixed = (("few", FEW), ("couple", COUPLE), ("one", 1))
        return counts | {form: number for name, number in fixed for form in self.listed(name)}


_NEAR = (("this", 0), ("current", 0), ("last", -1), ("rolling", -1), ("next", 1))


@cache
def time_words(languages: tuple[Language, ...]) -> TimeWords:
    """The words of some languages, together."""
    return TimeWords(languages)


@cache
def number_words_of(language: Language) -> dict[str, int]:
    """The words for two to twelve in another language than English. That for one is also an article, and left out."""
    numbers = enumerate(_file_of(language).get("numbers", "").split(", "), 2)
    return {form: number for number, word in numbers for form in _forms(word) if form}


@cache
def _file_of(language: str) -> Mapping[str, Any]:
    text = files("quarry.spans").joinpath(f"data/times/{language}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _split(listed: str) -> list[str]:
    return [form for word in listed.split(", ") if word for form in _forms(word)]


def _forms(word: str) -> list[str]:
    """How a word may be written: "märz" is also "marz" and "maerz"."""
    lower = word.lower()
    return list(dict.fromkeys((without_marks(lower), without_marks(lower.translate(_UMLAUTS)))))


def _inflected(words: Mapping[str, Any], listed: str, endings: Sequence[str]) -> list[str]:
    ends = ["", *(end for name in endings for end in _split(words.get(name, "")))]
    return [word + end for word in _split(listed) for end in ends]


# ---- times ----

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
