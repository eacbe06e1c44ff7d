"""Units of measure, conversion between units of the same kind ("2 hours" in minutes), and currencies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from quarry.language.word_forms import keys, stem

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
    for said, factor in units.items()
    for word in said.split()
}
UNITS: Sequence[str] = tuple(_BY_WORD)
"""The words for units."""
_SMALLER: Mapping[str, Sequence[str]] = {
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
    found = unit and (_BY_WORD.get(unit.lower()) or _BY_STEM.get(unit.lower()))
    return found[0] if found else None


def same_unit(unit: str | None) -> list[str]:
    """The words for a unit: `kg` is also "kilogram" and "kilos". Empty if it is not a unit."""
    found = unit and _BY_WORD.get(unit.lower())
    return [word for word, other in _BY_WORD.items() if other == found]


def converted(value: float | None, unit: str, into: str) -> float | None:
    """A value in `unit` converted to the unit `into`, which measures the same. None stays None."""
    if value is None:
        return None
    unit_, wanted = (_BY_WORD.get(each.lower()) or _BY_STEM[each.lower()] for each in (unit, into))
    return round(value * unit_[1] / wanted[1], 9)


def plain_unit(numbers: Sequence[float | None], unit: str) -> str:
    """The largest unit in which all numbers of `unit` have at most two decimals; `unit` itself if there is none."""
    units = (unit, *_SMALLER.get(unit, ()))
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
