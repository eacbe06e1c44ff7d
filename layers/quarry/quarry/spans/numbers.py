"""Counts and comparisons ("more than 100 employees", "50–200", "two thousand or more") and lengths of time ("5+ years");
units of measure and currencies.

Numbers and money share the words and signs that bound an amount.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, NamedTuple, TypeVar

from quarry.language.word_forms import STOP_WORDS, Token, is_plural, keys, stem
from quarry.language.writing import DIGITS, IN_WORDS, NO_NUMERAL, SCALE, numeral_value, scale_value
from quarry.spans.mention import Duration, Mention, NumberRange

Dimension = Literal["time", "length", "area", "mass", "volume", "bytes"]

_UNITS: Mapping[Dimension, Mapping[str, float]] = {
    "time": {
        "millisecond milliseconds ms msec millis": 0.001, "second seconds sec secs": 1.0, "minute minutes min mins": 60.0,
        "hour hours hr hrs": 3600.0, "day days night nights": 86_400.0, "week weeks": 604_800.0,
    },
    "length": {
        "millimetre millimetres millimeter millimeters mm": 0.001, "centimetre centimetres centimeter centimeters cm": 0.01,
        "metre metres meter meters": 1.0, "kilometre kilometres kilometer kilometers km kms": 1000.0,
        "mile miles": 1609.344, "foot feet ft": 0.3048, "inch inches": 0.0254, "yard yards": 0.9144,
    },
    "area": {
        "sqm m2 m² qm": 1.0, "sqkm km2 km²": 1e6, "hectare hectares ha": 1e4, "acre acres": 4046.8564224,
        "sqft ft2 ft²": 0.09290304,
    },
    "mass": {
        "milligram milligrams mg": 1e-6, "gram grams gramme grammes": 0.001, "kilogram kilograms kilo kilos kg kgs": 1.0,
        "tonne tonnes": 1000.0, "pound pounds lb lbs": 0.45359237, "ounce ounces oz": 0.028349523125,
    },
    "volume": {"millilitre millilitres milliliter milliliters ml": 0.001, "litre litres liter liters": 1.0},
    "bytes": {
        "byte bytes": 1.0, "kilobyte kilobytes kb": 1e3, "megabyte megabytes mb": 1e6, "gigabyte gigabytes gb": 1e9,
    },
}  # fmt: skip

_BY_WORD: Mapping[str, tuple[Dimension, float]] = {
    word: (dimension, factor)
    for dimension, units in _UNITS.items()
    for names, factor in units.items()
    for word in names.split()
}
UNITS: Sequence[str] = tuple(_BY_WORD)
"""The words for units."""
_SMALLER_UNITS: Mapping[str, Sequence[str]] = {
    "day": ("hours", "minutes"),
    "days": ("hours", "minutes"),
    "hours": ("minutes",),
}
"""Smaller units for each unit of time, for values that are not whole numbers of it."""
ROUNDED = 1e-6
"""Smaller differences are rounding errors of a conversion."""
_AMBIGUOUS = frozenset("min mins second minute foot yard pound pounds kilo kilos ms night nights".split())
"""Words that also end other names: a minimum, an ordinal, money."""
_EXTENTS = frozenset("length depth height width distance altitude elevation".split())
_LASTING = frozenset("duration runtime running length".split())
_MASSES = frozenset("weight mass load".split())
_BY_STEM: Mapping[str, tuple[Dimension, float]] = {stem(word): unit for word, unit in _BY_WORD.items()}


def dimension_of(unit: str | None) -> Dimension | None:
    """What a unit, or its stem, measures; None if it is not a unit."""
    entry = unit and (_BY_WORD.get(unit.lower()) or _BY_STEM.get(unit.lower()))
    return entry[0] if entry else None


def same_unit(unit: str | None) -> list[str]:
    """The words for a unit: `kg` is also "kilogram" and "kilos". Empty if it is not a unit."""
    entry = unit and _BY_WORD.get(unit.lower())
    return [word for word, other in _BY_WORD.items() if other == entry]


def converted(value: float | None, unit: str, into: str) -> float | None:
    """A value in `unit` converted to the unit `into`, which measures the same. None stays None."""
    if value is None:
        return None
    unit_, target = (_BY_WORD.get(each.lower()) or _BY_STEM[each.lower()] for each in (unit, into))
    return round(value * unit_[1] / target[1], 9)


def plain_unit(numbers: Sequence[float | None], unit: str) -> str:
    """The largest unit in which all numbers of `unit` have at most two decimals; `unit` itself if there is none."""
    units = (unit, *_SMALLER_UNITS.get(unit, ()))
    return next((each for each in units if all(_is_short(converted(one, unit, each)) for one in numbers)), unit)


def _is_short(number: float | None) -> bool:
    return number is None or abs(number - round(number, 2)) < ROUNDED


SQUARES: Mapping[str, str] = {
    word: unit
    for unit, words in {
        "sqm": "m metre metres meter meters", "sqft": "foot feet ft", "sqkm": "km kilometre kilometres kilometer kilometers",
    }.items()
    for word in words.split()
}  # fmt: skip
"""Units of area, by the word after "square"."""


def _is_plural_unit(word: str) -> bool:
    return word in _BY_WORD and len(word) > len("kms") and word.endswith("s") and word not in _AMBIGUOUS


def unit_named(names: Iterable[str]) -> str | None:
    """The unit that the name of a number is or ends with: `duration_minutes`, `milliseconds`, `weight_kg`."""
    for name in names:
        *before, last = keys(name.replace("_", " ")) or ("",)
        if last == "m" and _EXTENTS & {*before}:
            return "metres"
        if last == "min" and _LASTING & {*before}:
            return "minutes"
        if last == "t" and _MASSES & {*before}:
            return "tonnes"
        if before and _is_plural_unit(before[0]) and not dimension_of(last):
            # `minutes_down`
            return before[0]
        is_unit = last in _BY_WORD and last not in _AMBIGUOUS and "per" not in before
        if is_unit and (before or (dimension_of(last) in ("time", "bytes") and last.endswith("s"))):
            return last
    return None


CURRENCIES: Mapping[str, str] = {
    "dollar": "USD", "buck": "USD", "euro": "EUR", "pound": "GBP", "quid": "GBP", "sterling": "GBP", "rupee": "INR", "rs": "INR",
    "yen": "JPY", "yuan": "CNY", "rmb": "CNY", "renminbi": "CNY", "franc": "CHF", "rand": "ZAR", "naira": "NGN",
    "reais": "BRL", "dirham": "AED", "ringgit": "MYR", "baht": "THB", "rupiah": "IDR", "shekel": "ILS", "zloty": "PLN",
    "hryvnia": "UAH", "ruble": "RUB", "lira": "TRY", "cedi": "GHS",
}  # fmt: skip
"""The currencies by what they are called, in the singular."""
# without codes that are also words or languages ("cop", "pen", "php")
CODES = frozenset(
    (
        "usd eur gbp inr jpy cny chf cad aud nzd sgd hkd aed sar qar kwd ils egp zar ngn kes ghs brl mxn ars clp krw twd thb myr "
        "idr vnd pkr bdt lkr npr rub uah pln czk huf bgn sek nok dkk isk"
    ).split()
)


def names_currency(word: str) -> bool:
    """Whether a lower-case word is a currency's name or code: "euros", "usd"."""
    return currency_code(word) is not None or not {word, word.removesuffix("s")}.isdisjoint(CURRENCIES)


def currency_code(word: str) -> str | None:
    """The ISO 4217 code that a lower-case word is: "usd"; None for all other words."""
    return word.upper() if word in CODES else None


LEAD_CHARACTERS_MAX = 40
"""The words that bound an amount start at most this many characters before it."""
ABOUT_SHARE = 0.2
""" "About 100" allows a difference of at most one fifth."""


@dataclass(frozen=True)
class Amount:
    """A number at `text[start:end]`, including its scale ("k", "million") and counted noun (`unit`) if they follow it.

    `at_least`: it has a plus sign ("5+ years").
    """

    start: int
    end: int
    value: float
    scale: float = 1.0
    unit: str | None = None
    at_least: bool = False


AmountType = TypeVar("AmountType", bound=Amount)


class Bounds(NamedTuple):
    """From `least` to `most` (None is open), as stated by `text[start:end]`. `is_bare`: a number without a comparison."""

    start: int
    end: int
    amounts: tuple[Amount, ...]
    least: float | None = None
    most: float | None = None
    includes_least: bool = True
    includes_most: bool = True
    is_bare: bool = False

    @property
    def range(self) -> tuple[float | None, float | None, bool, bool]:
        """Its ends, and whether it includes them."""
        return self.least, self.most, self.includes_least, self.includes_most


def find_bounds(text: str, amounts: Sequence[Amount]) -> list[Bounds]:
    """The comparisons with the amounts of a text, which are in order and do not overlap. A range joins two amounts."""
    comparisons: list[Bounds] = []
    for low, high in paired(text, amounts):
        lead = _lead(text, low.start)
        bounds = _range(low, high, lead) if high else _compared(text, low, lead)
        if comparisons and (both := _both(text, comparisons[-1], bounds)):
            comparisons[-1] = both
        else:
            comparisons.append(bounds)
    return comparisons


class _Lead(NamedTuple):
    """What the words right before an amount say about it, and where they start."""

    kind: str
    start: int


def _lead(text: str, amount: int) -> _Lead:
    begin = max(0, amount - LEAD_CHARACTERS_MAX)
    before = text[begin:amount]
    # in a long list, most numbers follow other numbers
    match = _before().search(before) if _SAYS_SOMETHING.search(before) else None
    return _Lead(match.lastgroup or "", begin + match.start()) if match else _Lead("", amount)


def _in_one_range(text: str, low: Amount, high: Amount) -> bool:
    """Whether two adjacent amounts are the ends of a range."""
    gap = text[low.end : high.start]
    return bool(TO.fullmatch(gap) or (AND.fullmatch(gap) and _lead(text, low.start).kind == "between"))


def paired(text: str, amounts: Sequence[AmountType]) -> Iterator[tuple[AmountType, AmountType | None]]:
    """The amounts in order, each with the other end of its range if it starts one."""
    place = 0
    while place < len(amounts):
        low, high = amounts[place], amounts[place + 1] if place + 1 < len(amounts) else None
        if high and _in_one_range(text, low, high):
            yield low, high
            place += 1
        else:
            yield low, None
        place += 1


def _range(low: Amount, high: Amount, lead: _Lead) -> Bounds:
    # "5–10 million"
    if low.scale == 1 < high.scale and low.value < high.value / high.scale:
        low = replace(low, value=low.value * high.scale)
    least, most = sorted((low.value, high.value))
    start = lead.start if lead.kind in ("between", "about") else low.start
    return Bounds(start, high.end, (low, high), least, most)


def _compared(text: str, amount: Amount, lead: _Lead) -> Bounds:
    value, start, end = amount.value, lead.start, amount.end
    kind = lead.kind
    if kind in ("", "about", "between"):
        behind = _behind().match(text, end)
        if behind:
            kind, start, end = behind.lastgroup or "", amount.start, behind.end()
        elif amount.at_least:
            kind, start = "from", amount.start
    whole = Bounds(start, end, (amount,), value, value)
    match kind:
        case "over":
            return whole._replace(most=None, includes_least=False)
        case "from":
            return whole._replace(most=None)
        case "under":
            return whole._replace(least=None, includes_most=False)
        case "upto":
            return whole._replace(least=None)
        case "about":
            return whole._replace(least=round(value * (1 - ABOUT_SHARE), 6), most=round(value * (1 + ABOUT_SHARE), 6))
        case "exactly":
            return whole
        case _:
            return whole._replace(start=amount.start, is_bare=True)


def _both(text: str, lower: Bounds, upper: Bounds) -> Bounds | None:
    """ "More than 5 and fewer than 10" as one."""
    if not _BUT.fullmatch(text[lower.end : upper.start]):
        return None
    if lower.least is None:
        lower, upper = upper, lower
    if lower.most is not None or upper.least is not None or lower.least is None or upper.most is None:
        return None
    return lower._replace(
        start=min(lower.start, upper.start),
        end=max(lower.end, upper.end),
        amounts=(*lower.amounts, *upper.amounts),
        most=upper.most,
        includes_most=upper.includes_most,
    )


_SAYS_SOMETHING = re.compile(r"[^\W\d]|[<=>≤≥~≈]")
TO = re.compile(r"\s{0,3}+(?:[-–—]|\b(?:to|until|till|through|thru)\b)\s{0,3}+(?:the\s++)?", re.IGNORECASE)
"""What separates the ends of a range of numbers or days,"""
AND = re.compile(r"\s{0,3}+(?:\band\b|&)\s{0,3}+(?:the\s++)?", re.IGNORECASE)
"""and after "between"."""
_BUT = re.compile(r"\s{0,3}+,?\s{0,3}+(?:and|but)\s{1,3}+", re.IGNORECASE)

_GREATER = (
    r"(?:more\s+expensive|more|greater|larger|bigger|higher|longer|older|taller|heavier|wider|deeper|faster|thicker|"
    r"costlier|dearer)"
)
_SMALLER = r"(?:less\s+expensive|fewer|less|lower|smaller|shorter|cheaper|younger|lighter|narrower|slower|thinner)"
_OF = r"(?:\s+(?:of|is|as))?"


@cache
def _before() -> re.Pattern[str]:
    """Words and signs that end right before an amount."""
    return re.compile(
        r"(?:^|(?<=[\s(,;:\w]))(?:"
        rf"(?P<upto>\b(?:at\s+(?:the\s+)?most|up\s?to|upto|max(?:imum)?\b\.?{_OF}|not?\s+{_GREATER}\s+than|no\s+over|"
        rf"not\s+(?:over|above|exceeding)|within|as\s+(?:many|much)\s+as|capped\s+at)|≤|<=|=<)"
        rf"|(?P<from>\b(?:at\s+(?:the\s+)?least|min(?:imum)?\b\.?{_OF}|not?\s+{_SMALLER}\s+than|not\s+(?:under|below)|"
        r"starting\s+(?:at|from|with))|≥|>=|=>)"
        rf"|(?P<over>\b(?:{_GREATER}\s+than|over|above|exceed(?:s|ing)?|upwards?\s+of|in\s+excess\s+of|north\s+of|beyond)|>)"
        rf"|(?P<under>\b(?:{_SMALLER}\s+than|under|below|short\s+of)|<)"
        r"|(?P<between>\b(?:(?:anywhere\s+)?(?:between|from)))"
        r"|(?P<about>\b(?:about|around|approx(?:imately)?\b\.?|roughly|nearly|almost|circa|some)|~|≈)"
        r"|(?P<exactly>\b(?:exactly|precisely)|(?<![<>])=)"
        r")(?:\s+(?:a|an|the))?\s*$",
        re.IGNORECASE,
    )


@cache
def _behind() -> re.Pattern[str]:
    """Words and signs that start right after an amount."""
    return re.compile(
        rf"\s{{0,3}}+(?P<from>\+(?!\w)|(?:plus|upwards?|minimum|and\s+up)\b|(?:or|and)\s+(?:{_GREATER}|above|over|up|upwards?|beyond)\b)"
        rf"|\s{{0,3}}+(?P<upto>(?:max(?:imum)?|at\s+(?:the\s+)?most|tops)\b|(?:or|and)\s+(?:{_SMALLER}|under|below)\b)",
        re.IGNORECASE,
    )


WORDS_TO_COUNTED_MAX = 3
"""How many words after a number to search for the noun it counts ("100 full-time employees")."""

_MONTHS = {"decad": 120.0, "year": 12.0, "yr": 12.0, "yrs": 12.0, "yoe": 12.0, "quarter": 3.0, "month": 1.0} | {
    "week": 84 / 365,
    "wk": 84 / 365,
    "wks": 84 / 365,
    "day": 12 / 365,
    "hour": 12 / 365 / 24,
}
"""Lengths of time in months, by their stems."""
_MONEY = CODES | {stem(word) for word in CURRENCIES} | {"cent", "lpa"}
_PLURALS = frozenset("people staff personnel men women children headcount lpa".split())
COPULAS = frozenset("is are was were of be".split())


def find_numbers(text: str, tokens: Sequence[Token]) -> list[Mention]:
    """The numbers in a text that compare or count; those without a comparison are latent.

    A number with a counted noun gives one mention with the noun and one without it. Money, dates, lengths of time, ordinals and
    parts of names ("24/7", "3D") are left out.
    """
    amounts = [each for each in _amounts(text, tokens) if each.unit not in _MONTHS and each.unit not in _MONEY]
    alone = [replace(each, end=_end_of_number(text, each), unit=None) for each in amounts if each.unit != "percent"]
    measured = {each.start for each in amounts if dimension_of(each.unit)}
    compared = find_bounds(text, alone)
    mentions = [_with_noun(tokens, bounds) for bounds in find_bounds(text, amounts)]
    # without a measured noun, the noun before may be the counted one
    mentions += [_with_noun(tokens, bounds) for bounds in compared if bounds.amounts[-1].start in measured]
    mentions += [_without_noun(text, bounds) for bounds in compared]
    return list(dict.fromkeys(mention for mention in mentions if mention))


def find_durations(text: str, tokens: Sequence[Token]) -> list[Mention]:
    """The lengths of time in a text, in months. As dates, they only mean ages."""
    lengths = [
        replace(each, value=round(each.value * _MONTHS[each.unit], 12))
        for each in _amounts(text, tokens)
        if each.unit in _MONTHS
    ]
    old = {token.start: token.end for token in tokens if token.key == "old"}
    return [
        Mention(
            Duration(*bounds.range, bounds.amounts[-1].unit),
            bounds.start,
            old.get(bounds.end + 1, bounds.end),
        )
        for bounds in find_bounds(text, lengths)
    ]


def _with_noun(tokens: Sequence[Token], bounds: Bounds) -> Mention | None:
    unit, start = bounds.amounts[-1].unit, bounds.start
    if unit is None and not bounds.is_bare and (noun := _noun_before(tokens, start)):
        unit, start = stem(noun.key), noun.start
    if unit is None:
        return None
    is_latent = bounds.is_bare and unit != "percent"
    return Mention(NumberRange(*bounds.range, unit), start, bounds.end, is_latent=is_latent)


def _without_noun(text: str, bounds: Bounds) -> Mention | None:
    """The number alone. A number that looks like a year probably is one, and a bare range may mean anything."""
    looks_like_years = all(_YEAR.fullmatch(text, each.start, each.end) for each in bounds.amounts)
    is_range = bounds.least is not None and bounds.most is not None
    if looks_like_years and is_range:
        return None
    is_latent = looks_like_years or bounds.is_bare or (is_range and len(bounds.amounts) > 1)
    return Mention(NumberRange(*bounds.range), bounds.start, bounds.end, is_latent=is_latent)


def _amounts(text: str, tokens: Sequence[Token]) -> list[Amount]:
    """The numbers in a text with what they count. The first end of a range counts the same as the second."""
    amounts = [
        _with_unit(text, tokens, match)
        for match in _numeral().finditer(text)
        if match["skipped"] is None and numeral_value(match["number"]) is not None
    ]
    ones = [Amount(match.start("one"), match.end("one"), 1.0) for match in _ONE.finditer(text)]
    if ones:
        behind = [(one, _noun_behind(text, tokens, one)) for one in ones]
        measured = [
            replace(one, end=noun.end, unit=stem(noun.key))
            for one, noun in behind
            if noun and _is_counted_once(text, one, noun)
        ]
        amounts = sorted([*amounts, *measured], key=lambda each: each.start)
    shared: list[Amount] = []
    for low, high in paired(text, amounts):
        shared += [replace(low, unit=low.unit or high.unit), high] if high else [low]
    return shared


def _with_unit(text: str, tokens: Sequence[Token], match: re.Match[str]) -> Amount:
    value = numeral_value(match["number"])
    assert value is not None
    amount = Amount(match.start(), match.end(), value, scale_value(match["scale"] or ""), at_least=bool(match["plus"]))
    if percent := _PERCENT.match(text, amount.end):
        return replace(amount, end=percent.end(), unit="percent")
    place = bisect_left(tokens, amount.end, key=lambda token: token.start)
    if place + 1 < len(tokens) and tokens[place].key in ("square", "sq") and tokens[place + 1].key in SQUARES:
        return replace(amount, end=tokens[place + 1].end, unit=SQUARES[tokens[place + 1].key])
    noun = _noun_behind(text, tokens, amount)
    return replace(amount, end=noun.end, unit=stem(noun.key)) if noun else amount


def _noun_behind(text: str, tokens: Sequence[Token], amount: Amount) -> Token | None:
    """The counted noun: the first plural after a number, or a word joined by a hyphen ("50-person")."""
    place = bisect_left(tokens, amount.end, key=lambda token: token.start)
    words: list[Token] = []
    for token in tokens[place : place + WORDS_TO_COUNTED_MAX]:
        if token.ends_clause or token.key in STOP_WORDS or not token.key[0].isalpha():
            break
        words.append(token)
    if not words:
        return None
    is_tied = text[amount.end : words[0].start] == "-"
    is_unit = stem(words[0].key) in _MONTHS or names_currency(words[0].key) or dimension_of(words[0].key) is not None
    if is_tied or amount.value == 1 or is_unit:
        return words[0]
    return next((word for word in words if _is_plural(word.key)), None)


def _is_counted_once(text: str, one: Amount, noun: Token) -> bool:
    """Whether something is compared with one unit of it: any noun after "one", a unit of measure after "an"."""
    is_unit = stem(noun.key) in _MONTHS or dimension_of(noun.key) is not None
    return is_unit or (text[one.start : one.end].lower() == "one" and not _is_plural(noun.key))


def _is_plural(word: str) -> bool:
    return word in _PLURALS or (len(word) > 3 and is_plural(word))


def _noun_before(tokens: Sequence[Token], start: int) -> Token | None:
    """The compared noun if none follows the number: "headcount above 200", "a rating of at least 4"."""
    place = bisect_left(tokens, start, key=lambda token: token.start)
    if place < len(tokens) and tokens[place].ends_clause:
        return None
    place -= 1
    if place > 0 and tokens[place].key in COPULAS and not tokens[place].ends_clause:
        place -= 1
    noun = tokens[place] if place >= 0 else None
    return noun if noun and noun.key.isalpha() and noun.key not in STOP_WORDS else None


def _end_of_number(text: str, amount: Amount) -> int:
    match = _numeral().match(text, amount.start)
    # "one" on its own is not a numeral
    return match.end() if match else amount.start + len("one")


_ONE = re.compile(
    r"\b(?:(?:than|at\s{1,3}+(?:least|most)|exactly|only)\s{1,3}+|(?=(?:a|one)\s(?:decade|year\s+of\s+experience)\b))"
    r"(?P<one>an?|one)\s",
    re.IGNORECASE,
)
"""A comparison with one of something ("longer than an hour", "at least one complaint"), or a length of time that is no rate:
"a decade of".
"""
_YEAR = re.compile(r"[12]\d{3}")
_PERCENT = re.compile(r"\s?%|\s{1,2}per\s?cent\b", re.IGNORECASE)


@cache
def _numeral() -> re.Pattern[str]:
    """A number, or something that only looks like one: dates, times, versions, telephone numbers."""
    return re.compile(
        r"(?<![\w.,:/#$€£₹¥])(?<![^\W\d]-)"
        rf"(?:(?P<skipped>{NO_NUMERAL}|\d++/\d++)"
        rf"|(?P<number>{DIGITS}(?P<scale>{SCALE})?|\b(?!one\b(?!\s+(?:hundred|thousand|million|billion|lakh|crore)))"
        rf"{IN_WORDS})(?P<plus>\+)?)(?![\w])(?![.,]\d)(?!\s?[$€£₹¥])",
        re.IGNORECASE,
    )
