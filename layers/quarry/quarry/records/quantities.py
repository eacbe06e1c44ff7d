"""Which quantity a question asks for – an age, a price, a weight, a length, a duration – and whether a text tells one. Pure.

Only what is always written with its unit can be missed: how many there are, who it was or where is told in any words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from quarry.core.language.numerals import DIGITS, IN_WORDS


@dataclass(frozen=True)
class Quantity:
    """A kind of quantity: how it is called, what asks for it, and what a text that tells it has."""

    name: str
    asks: re.Pattern[str]
    tells: re.Pattern[str]

    def is_asked(self, question: str) -> bool:
        return bool(self.asks.search(question))

    def is_told(self, text: str) -> bool:
        return bool(self.tells.search(text))


def _any(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_NUMBER = rf"(?:(?<!\d){DIGITS}|\b{IN_WORDS}|\b(?:an?|half|several|few))"


def _with_units(units: str) -> str:
    return rf"{_NUMBER}[\s-]{{0,2}}(?:(?:and a half|square|cubic|full|whole|more|working)\s)?(?:{units})\b"


_TIMES = (
    r"seconds?|minutes?|mins?|hours?|h|days?|nights?|weeks?|months?|years?|decades?|centur(?:y|ies)|fortnights?|terms?|"
    r"seasons?"
)
_LENGTHS = (
    r"millimet(?:er|re)s?|mm|centimet(?:er|re)s?|cm|met(?:er|re)s?|m|kilomet(?:er|re)s?|km|miles?|mi|feet|foot|ft|inch(?:es)?|in|"
    r"yards?|yd|fathoms?|acres?|hectares?|blocks?|stor(?:e?y|eys|ies)|floors?"
)
_WEIGHTS = r"kilos?|kilograms?|kg|grams?|g|pounds?|lbs?|ounces?|oz|tons?|tonnes?|stone"
_MONEY = (
    rf"[$€£¥₹]\s?\d|\b(?:USD|EUR|GBP|CHF)\s?\d|{_NUMBER}\s?(?:(?:thousand|million|billion|m|bn|k)\s)?"
    r"(?:dollars?|cents?|euros?|pounds?|pence|p|francs?|crowns?|kronor|rupees|yen|yuan|shillings?|USD|EUR|GBP|CHF)\b|"
    r"\b(?:free|for nothing|no (?:charge|fee|cost)|without charge|gratis)\b|\bpercent\b|%"
)

QUANTITIES: Sequence[Quantity] = (
    Quantity(
        "age",
        _any(r"\bhow old\b|\bwhat age\b"),
        _any(
            rf"\b(?:aged?|born|birthday)\b|\bcentury\b|{_with_units('years?|months?|weeks?|centur(?:y|ies)')}|-year-old\b"
            r"|\b(?:built|made|cast|opened|founded|begun|erected|laid|planted|dates?|dated|dating|since|installed|bought|from)\b"
            r"[^.;]{0,40}\b[12]\d{3}\b|\b(?:the|an?|this|its|their|our)\s[12]\d{3}\s[a-z]"
            rf"|,\s(?:\d{{1,3}}|{IN_WORDS})(?=[,.;)])|\(\d{{1,3}}\)|^(?:\d{{1,3}}|{IN_WORDS}),"
        ),
    ),
    Quantity(
        "price or sum",
        _any(
            r"\bwhat (?:is|was|were|are) the (?:\w+ ){0,2}(?:price|cost|fee|salary|fare|rent|fine|wage|budget)s?\b|"
            r"\bhow much\b[^,;?]*\b(?:costs?|pay|paid|pays|earns?|earned|spend|spent|charged?|charges)\b"
            r"|\bhow expensive\b|\bwhat (?:do|does|did|will|would)\b[^,;?]*\b(?:cost|earn)\b(?! of)"
        ),
        _any(_MONEY),
    ),
    Quantity(
        "weight",
        _any(r"\bhow heavy\b|\b(?:how much|what)\b.*\bweigh(?:s|ed)?\b|\bweight of\b"),
        _any(_with_units(_WEIGHTS)),
    ),
    Quantity(
        "height, depth or distance",
        _any(r"\bhow (?:tall|high|deep|wide|far|broad|thick)\b"),
        _any(rf"{_with_units(_LENGTHS)}|{_with_units(_TIMES)}|\d\s?%|\bpercent\b|[$€£]\s?\d|\d"),
    ),
    Quantity(
        "duration or length",
        _any(r"\bhow long\b(?! ago)"),
        _any(
            rf"{_with_units(_TIMES)}|{_with_units(_LENGTHS)}|\b(?:until|till|since|from|between)\b|\b[12]\d{{3}}\b|"
            r"\b(?:overnight|forever|permanent(?:ly)?|all (?:day|night|week|year)|ever|centur(?:y|ies)|week(?:end)?|month)\b"
        ),
    ),
    Quantity(
        "temperature",
        _any(r"\bhow (?:hot|cold|warm|cool)\b|\bwhat temperature\b"),
        _any(r"\d\s?(?:°|degrees|celsius|fahrenheit|[CF]\b)|\bdegrees?\b"),
    ),
    Quantity(
        "telephone number",
        _any(r"\b(?:tele)?phone number\b"),
        _any(r"\+?\d[\d ()/.-]{5,20}\d"),
    ),
)


def asked_quantity(question: str) -> Quantity | None:
    """What a question asks for that is written with its unit; none where it asks for anything else."""
    return next((each for each in QUANTITIES if each.is_asked(question)), None)
