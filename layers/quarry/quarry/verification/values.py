"""The numbers, votes, dates and times of day in a text, each with its place, precision and unit; and the words of English
that the check knows, read from `data/`: opposites, negations, words of comparison and arithmetic. Pure.
"""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import zip_longest
from typing import Any, NamedTuple

from quarry.language.word_forms import STOP_WORDS, stem
from quarry.language.writing import IN_WORDS, languages, number_words, numeral_value, scale_value
from quarry.platform.text import words
from quarry.spans.numbers import CURRENCIES, currency_code, dimension_of, same_unit

_NUMBERS = number_words(0, 99)


class Wording(NamedTuple):
    """The words of one language by what they say. Patterns match in lower-case text."""

    opposites: tuple[tuple[frozenset[str], frozenset[str]], ...]
    same: Mapping[str, str]
    sets: Mapping[str, frozenset[str]]
    fractions: Mapping[str, float]
    numerators: Mapping[str, int]
    rates: Mapping[str, str]
    exclusive: frozenset[str]
    units: Mapping[str, str]
    in_favour: re.Pattern[str]
    opposed: re.Pattern[str]
    among: re.Pattern[str]
    rate: re.Pattern[str]
    fraction: re.Pattern[str]

    prefixes: tuple[str, ...]
    data_stems: frozenset[str]

    def denies(self, word: str) -> bool:
        """Whether a word denies what stands behind it."""
        return word in self.sets["negations"] or word in self.sets["refusals"] or word.endswith("n't")

    def stem_list(self, text: str) -> list[str]:
        """The stems of the words that carry meaning, in order."""
        terms = (word for word in words(text) if word not in STOP_WORDS and word not in _NUMBERS)
        return [root_of(word) for word in terms if not word[0].isdigit()]

    def has(self, kind: str, words: Iterable[str]) -> bool:
        """Whether one of the words is of this kind."""
        return not self.sets[kind].isdisjoint(words)

    def is_negated(self, words: Collection[str]) -> bool:
        """Whether one of the words denies."""
        return self.has("negations", words) or any(word.endswith("n't") for word in words)

    def may_deny(self, words: Collection[str]) -> bool:
        """Whether one of the words denies, or stands for a denial."""
        return self.is_negated(words) or self.has("denials", words)

    def stems(self, text: str) -> frozenset[str]:
        """The stems of the words of a text that carry meaning. Words that say the same have one stem; numbers have none."""
        terms = {word for word in words(text) if word not in STOP_WORDS and not word[0].isdigit()}
        return frozenset(map(root_of, terms))


@lru_cache(maxsize=1 << 16)
def root_of(word: str) -> str:
    """The stem of a word, or of one that says the same. The words of a source are compared many times."""
    root = stem(word.removesuffix("'s") if "'" in word else word)
    return english().same.get(root, root)


@cache
def english() -> Wording:
    """The words of English."""
    return _wording("english")


def side_of(text: str) -> bool | None:
    """True for, False against; None where a text, in lower case, says neither or both."""
    is_against, is_for = english().opposed.search(text) is not None, english().in_favour.search(text) is not None
    return None if is_against == is_for else is_for


def _wording(language: str) -> Wording:
    data = tomllib.loads(files("quarry.verification").joinpath(f"data/{language}.toml").read_text(encoding="utf-8"))
    listed = {
        name: frozenset(value.split()) for name, value in data.items() if isinstance(value, str) and "|" not in value
    }
    rate_words = "|".join(data["rates"])
    of = "|".join(sorted(data["fractions"], key=len, reverse=True))
    numerators = "|".join(data["numerators"])
    return Wording(
        opposites=tuple((frozenset(one.split()), frozenset(two.split())) for one, two in data["opposites"]),
        same=_groups(data["same"]),
        sets=listed,
        fractions=data["fractions"],
        numerators=data["numerators"],
        rates=data["rates"],
        prefixes=tuple(data["prefixes"].split()),
        data_stems=frozenset(map(stem, f"{data['about_data']} {data['checked_apart']}".split())),
        exclusive=frozenset(word for group in data["exclusive"] for word in group.split()),
        units={word: group.split()[0] for group in data["units"] for word in group.split()},
        in_favour=_pattern(data["for"], r"|^for:"),
        opposed=_pattern(data["against"], r"|^against:"),
        among=_pattern(data["among"]),
        rate=re.compile(rf"\b(?:(?:{'|'.join(data['per'].split())}) ({rate_words})|(\w+ly|annual))\b"),
        fraction=re.compile(rf"\b(?:({numerators})[ -](?:{of})|(half)(?! past| of the year|-))\b(?! of (?:19|20)\d\d)"),
    )


def _groups(groups: Iterable[str]) -> dict[str, str]:
    return {stem(word): stem(group.split()[0]) for group in groups for word in group.split()}


def _pattern(choices: Any, more: str = "") -> re.Pattern[str]:
    return re.compile(rf"\b(?:{choices})\b{more}")


NEAR_SHARE = 0.06
"""How far a number may be from another that it is "about"."""
EXACT = 1e-9
ROUNDED_SHARE = 0.02
"""How far a number of a text may be from what it rounds without saying "about"."""
_SIGNS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR"}
_PERCENT = ("percent", "per cent", "prozent", "percentage", "pct")


class Number(NamedTuple):
    """A number at `text[start:end]`. `values` are what it may mean: "39.870" is a thousand times as much in German. `step` is
    half of its last digit. `unit` is a unit's usual word or a currency's code; `rate` the period that it counts for.
    """

    start: int
    end: int
    values: tuple[float, ...]
    step: float
    text: str
    is_percent: bool = False
    unit: str | None = None
    rate: str | None = None
    in_words: bool = False
    is_fraction: bool = False

    @property
    def value(self) -> float:
        return self.values[0]

    @property
    def is_small(self) -> bool:
        """Whether so few digits say little: other numbers are the same by chance."""
        return len(self.text.strip("$€£ %").replace(".", "").replace(",", "").lstrip("0")) < 3 or self.in_words

    def is_near(self, other: float | None, *, loose: bool = False, rounds: float = 1.0) -> bool:
        """Whether it may stand for another number, rounded to its last digit by at most a share of it or, if `loose`, about."""
        if other is None:
            return False
        step, share = self.step * (1 + EXACT), NEAR_SHARE if loose else 0.0
        return any(
            abs(abs(other) - value) <= max(min(step, rounds * value) + EXACT, share * value) for value in self.values
        )

    def is_one_of(self, numbers: Container[object]) -> bool:
        """Whether it may mean one of these numbers, exactly."""
        return any(value in numbers for value in self.values)

    def may_be(self, other: Number) -> bool:
        """Whether it may stand for a number of a text, in the same unit where both have one."""
        is_alike = self.is_percent == other.is_percent and (self.unit == other.unit or None in (self.unit, other.unit))
        return is_alike and any(map(self.is_near, other.values))


class Day(NamedTuple):
    """A date, month or year in a text."""

    start: int
    end: int
    year: int | None
    month: int | None
    day: int | None
    text: str

    def agrees(self, other: Day) -> bool:
        """Whether the other date says at least as much, and nothing else."""
        return (
            (self.year is None or self.year == other.year or (other.year is None and self.month is not None))
            and (self.month is None or self.month == other.month)
            and (self.day is None or self.day == other.day)
        )


class Vote(NamedTuple):
    """Votes for and against."""

    start: int
    end: int
    ayes: int
    noes: int
    text: str

    @property
    def counts(self) -> tuple[int, int]:
        return (self.ayes, self.noes)


class Values(NamedTuple):
    """All values of a text. `times` are minutes of the day with their text; `codes` words of letters and digits."""

    numbers: Sequence[Number]
    votes: Sequence[Vote]
    days: Sequence[Day]
    times: Sequence[tuple[int, str]]
    codes: Sequence[str]

    @property
    def texts(self) -> list[str]:
        """Its numbers and dates, as written."""
        return [*(each.text for each in self.numbers), *(each.text for each in self.days)]


@cache
def _months() -> dict[str, int]:
    """The months' names in every language, which do not differ in what they mean, and their short forms in English."""
    by_name = {
        name.lower(): number
        for each in languages().values()
        for names in (each.months, each.alone)
        for number, name in enumerate(names, start=1)
        if name.isalpha()
    }
    ours = enumerate(languages()["english"].months, start=1)
    return by_name | {form: number for number, name in ours for form in (name[:3].lower(), name.lower())}


@cache
def _dates() -> re.Pattern[str]:
    names = _by_first_letter(_months())
    ours = "|".join(languages()["english"].months)
    return re.compile(
        r"\b(?P<y1>\d{4})-(?P<m1>\d\d)(?:-(?P<d1>\d\d))?\b(?![-\d])"
        r"|\b(?P<d2>\d\d?)\.(?P<m2>\d\d?)\.(?P<y2>\d{4})\b"
        # the names once for both forms: most of the time to compile this is theirs
        rf"|\b(?P<m3>{names})(?:\.? (?P<d3>\d{{1,2}})(?:st|nd|rd|th)?(?!\d|[.,]\d|:)(?:,? (?P<y3>(?:19|20)\d\d)\b)?"
        r"|\.?,? (?:of )?(?P<y5>(?:19|20)\d\d)\b)"
        rf"|\b(?P<d4>\d\d?)(?:st|nd|rd|th|\.)? (?P<m4>{names})\b\.?(?:,? (?P<y4>(?:19|20)\d\d)\b)?"
        rf"|\b(?:in|since|until|by|from|to|and|of|during|last|early|late|mid|between)[ -](?P<m6>(?-i:{ours}))\b(?! \d)"
        r"|(?<![$€£\d.,–-])\b(?P<y7>(?:19|20)\d\d)\b(?![,.]\d|[–-]\d)(?! ?%)",
        re.IGNORECASE,
    )


def _by_first_letter(names: Iterable[str]) -> str:
    """A pattern of many words: grouped, since each is tried at each place of a text."""
    groups: dict[str, list[str]] = {}
    for name in sorted(names, key=len, reverse=True):
        groups.setdefault(name[0], []).append(re.escape(name[1:]))
    return "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in groups.items())


_SMALL_WORD = r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|none|no|zero"
_VOTE = re.compile(
    r"(?<!from )(?<!between )(?<![\d$€£–.:-])\b(?P<a>\d{1,3})(?: ?[–-] ?| to )(?P<b>\d{1,3})\b(?![\d%–:-]|[.,]\d)"
    rf"|\b(?P<c>{_SMALL_WORD})(?: votes?| ayes?| yes| in favou?r)? (?:to|against) (?P<d>{_SMALL_WORD})\b(?! hundred)"
    rf"|\b(?P<e>\d{{1,3}}|{_SMALL_WORD}) (?:ayes?|yes|in favou?r),? (?:and |to )?(?P<f>\d{{1,3}}|{_SMALL_WORD})\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(?P<h>\d{1,2})(?::(?P<m>\d\d)(?: ?(?P<half>[ap]\.?m\b\.?))?| ?(?P<half2>[ap]\.?m\b\.?))", re.IGNORECASE
)
_CODE = re.compile(
    r"\b(?:[A-Z][\w]*-)+\d[\w-]*|\b[A-Za-z]+\d[\w-]*(?:[–-]\d+)?|\b\d+[A-Z]{1,3}\b(?![a-z])"
    r"|\b\d{2,}-\d{2,}[\w-]*|\b\d[\d,.]*(?:st|nd|rd|th)\b"
)
_NUMBER = re.compile(
    r"(?P<sign>[$€£¥₹])? ?(?<![\w.,])(?P<digits>"
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d{1,3}(?:[\u00a0\u202f ]\d{3})+(?:[.,]\d+)?(?!\d)"
    r"|\d{1,3}(?:\.\d{3})+(?:,\d+)?(?!\d)|\d+(?:[.,]\d+)?)"
    r"(?P<scale>[ -]?(?:million|billion|thousand|hundred|trillion|mio|mrd|millionen|bn|mn)\b|[kKMB]\b)?"
    r"(?P<percent>[\u00a0\u202f ]?%| ?percent\b| ?per cent\b| ?prozent\b)?(?P<behind> ?[€£$])?"
    rf"|\b(?P<words>{IN_WORDS})(?P<percent2> percent\b| per cent\b)?",
    re.IGNORECASE,
)
_GERMAN_SCALE = {"mio": 1e6, "millionen": 1e6, "mrd": 1e9}
_SCALES = {"k": 1e3, "m": 1e6, "b": 1e9}
_NEXT = re.compile(r"[ -]?([^\W\d_]+|[°²])(?:[ -]([^\W\d_]+))?")
_BEFORE = re.compile(r"\b([A-Z]{3}) ?$")
_RANGE = re.compile(r" ?(?:to|or|–|-) ?")
VOTES_MIN, VOTES_MAX = 3, 400


def read_values(text: str) -> Values:
    """The values of a text."""
    if not _SAYS_SOMETHING.search(text) and not any(month in text for month in languages()["english"].months):
        return Values([*_numbers(text), *_fractions(text)] if _SAYS_NUMBER.search(text) else [], [], [], [], [])
    days = [day for match in _dates().finditer(text) if (day := _day(match)) is not None]
    rest = blanked(text, [(day.start, day.end) for day in days])
    times = [(time, match) for match in _TIME.finditer(rest) if (time := _time(match)) is not None]
    rest = blanked(rest, [match.span() for _, match in times])
    votes = [vote for match in _VOTE.finditer(rest) if (vote := _vote(match, rest)) is not None]
    rest = blanked(rest, [(vote.start, vote.end) for vote in votes])
    codes = [match for match in _CODE.finditer(rest) if not re.fullmatch(r"\d[\d.,]*[kKMB]", match.group())]
    rest = blanked(rest, [match.span() for match in codes])
    numbers = [*_with_shared_units([*_numbers(rest)], rest), *_fractions(rest)]
    names = [match.group() for match in codes if match.group()[0].isalpha()]
    clock_times = [(time, match.group()) for time, match in times]
    return Values(sorted(numbers, key=lambda each: each.start), votes, days, clock_times, names)


def _with_shared_units(numbers: Sequence[Number], text: str) -> Iterator[Number]:
    """The numbers; the first of a range has the unit of the second ("from 60 to 75 euros")."""
    for one, other in zip_longest(numbers, numbers[1:]):
        is_range = other and one.unit is None and _RANGE.fullmatch(text, one.end, other.start)
        yield one._replace(unit=other.unit) if other and is_range and not one.is_percent else one


_SAYS_SOMETHING = re.compile(r"\d|\b(?:to|against|ayes?|in favou?r)\b", re.IGNORECASE)
_SAYS_NUMBER = re.compile(rf"\b(?:{IN_WORDS})|half|third|quarter|fifth|tenth", re.IGNORECASE)


def blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """A text with NUL in place of some spans."""
    for start, end in spans:
        text = text[:start] + "\0" * (end - start) + text[end:]
    return text


def spans_of(values: Values) -> list[tuple[int, int]]:
    """Where the numbers, votes and dates are."""
    parts: list[Number | Vote | Day] = [*values.numbers, *values.votes, *values.days]
    return [(each.start, each.end) for each in parts]


def _day(match: re.Match[str]) -> Day | None:
    groups = {name[0]: value for name, value in match.groupdict().items() if value is not None}
    month = groups.get("m")
    number = None if month is None else int(month) if month.isdigit() else _months()[month.lower()]
    day = int(groups["d"]) if "d" in groups else None
    if (number is not None and not 1 <= number <= 12) or (day is not None and not 1 <= day <= 31):
        return None
    start, year = match.start("m6" if match["m6"] else 0), int(groups["y"]) if "y" in groups else None
    return Day(start, match.end(), year, number, day, match.string[start : match.end()])


def _time(match: re.Match[str]) -> int | None:
    hour, minute, half = int(match["h"]), int(match["m"] or 0), (match["half"] or match["half2"] or "").lower()
    if hour > 24 or minute > 59:
        return None
    return (hour % 12 + 12 * half.startswith("p") if half else hour) * 60 + minute


def _vote(match: re.Match[str], text: str) -> Vote | None:
    ayes, noes = (_small(each) for each in [each for each in match.groups() if each is not None][:2])
    behind = _NEXT.match(text, match.end())
    measures = behind is not None and dimension_of(behind[1].lower()) is not None
    if not VOTES_MIN <= ayes + noes <= VOTES_MAX or measures:
        return None
    return Vote(match.start(), match.end(), ayes, noes, match.group())


def _small(word: str) -> int:
    if word.isdigit():
        return int(word)
    return 0 if word.lower() in ("none", "no") else int(numeral_value(word) or 0)


def _numbers(text: str) -> Iterator[Number]:
    wording = english()
    for match in _NUMBER.finditer(text):
        is_percent = bool(match["percent"] or match["percent2"])
        sign, unit = match["sign"] or (match["behind"] or "").strip(), None
        behind = _NEXT.match(text, match.end())
        if sign in _SIGNS:
            unit = _SIGNS[sign]
        elif (before := _BEFORE.search(text, max(0, match.start() - 4), match.start())) and (
            code := currency_code(before[1].lower())
        ):
            unit = code
        elif behind is not None:
            unit = _unit(behind[1], behind[2])
        values: tuple[float, ...]
        if match["words"]:
            value = numeral_value(match["words"])
            if value is None or (value <= 1 and unit is None and not is_percent):
                continue
            values, step = (value,), 0.0
        else:
            values, step = _digits(match["digits"], match["scale"] or "")
        tail = text[match.end() : match.end() + 30].lower()
        rate = wording.rate.search(tail.split(",")[0].split(".")[0])
        period = wording.rates.get(rate[1] or rate[2]) if rate else None
        start, end, number = match.start(), match.end(), match.group().strip()
        yield Number(start, end, values, step, number, is_percent, unit, period, bool(match["words"]))


def _digits(digits: str, scale: str) -> tuple[tuple[float, ...], float]:
    """What digits may mean, and half of the last one."""
    word = scale.strip(" -").lower()
    by = _GERMAN_SCALE.get(word) or _SCALES.get(word) or scale_value(word)
    if len(parts := re.split(r"[\u00a0\u202f ]", digits)) > 1:
        digits = "".join(parts).replace(",", ".")
    if re.fullmatch(r"\d{1,3}(\.\d{3})+(,\d+)?", digits):
        grouped = digits.replace(".", "").replace(",", ".")
        plain = [digits] if digits.count(".") == 1 and "," not in digits else []
        decimals = len(grouped.partition(".")[2])
        step = 0.0005 * by if plain else 0.5 * by * 10.0**-decimals
        return tuple(float(each) * by for each in (*plain, grouped)), step
    if re.fullmatch(r"\d+,\d{1,2}", digits) or re.fullmatch(r"0,\d+", digits):
        digits = digits.replace(",", ".")
    digits = digits.replace(",", "")
    return (float(digits) * by,), 0.5 * by * 10.0 ** -len(digits.partition(".")[2])


def _unit(word: str, after: str | None) -> str | None:
    """The usual word of a unit, or a currency's code."""
    lower = word.lower()
    if code := currency_code(lower) or CURRENCIES.get(lower.removesuffix("s")):
        return code if lower not in ("pound", "pounds") else "GBP"
    if lower in english().units:
        return english().units[lower]
    if lower in ("square", "sq"):
        return "square " + (usual_unit(after.lower()) or after.lower()) if after else None
    return usual_unit(lower)


_CALENDAR = {
    "month": "month", "months": "month", "year": "year", "years": "year", "week": "weeks", "weeks": "weeks",
    "decades": "decade", "quarters": "quarter",
}  # fmt: skip


@cache
def usual_unit(word: str | None) -> str | None:
    """One word for all spellings of a unit; None if it is not a unit."""
    if word is None:
        return None
    if word in _CALENDAR:
        return _CALENDAR[word]
    return min(same_unit(word), default=None) if word.isascii() or word in ("m²", "km²") else None


def _fractions(text: str) -> Iterator[Number]:
    wording = english()
    for match in wording.fraction.finditer(text.lower()):
        word = words(match.group())[-1]
        value = wording.fractions[word] * wording.numerators.get(match[1] or "a", 1)
        if 0 < value < 1:
            yield Number(match.start(), match.end(), (value,), 0.0, match.group(), in_words=True, is_fraction=True)


def month_name(month: int) -> str:
    """The English name of a month in lower case."""
    return languages()["english"].months[month - 1].lower()


def day_of(date: datetime.date) -> Day:
    """A date as a value."""
    return Day(0, 0, date.year, date.month, date.day, date.isoformat())
