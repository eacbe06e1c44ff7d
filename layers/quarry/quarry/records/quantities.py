"""What of a kind a question asks for – an age, a price, a weight, a length, a number of things, who did something – and whether a
text tells one. Pure.

Only what is written in few ways can be missed: where or why is told in any words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from quarry.core.language.irregular import other_forms
from quarry.core.language.nouns import plural, singular
from quarry.core.language.numerals import DIGITS, IN_WORDS
from quarry.core.language.stemming import stem
from quarry.core.text import STOP_WORDS, placed_words, words


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
            rf"|(?:,|\b(?:is|was|turned|turns|at))\s(?:\d{{1,3}}|{IN_WORDS})(?=[,.;)]|\sand\b|\swhen\b|$)|\(\d{{1,3}}\)|^(?:\d{{1,3}}|{IN_WORDS}),"
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


@dataclass(frozen=True)
class Count:
    """How many of something there are. `noun` is the stem of what it is called by."""

    name: str
    noun: str

    def is_told(self, text: str) -> bool:
        """Whether a number stands before the noun, or behind it and a colon or a verb."""
        is_number = list[bool]()
        for word, _, end in placed_words(text):
            if stem(word) == self.noun and (any(is_number[-_BEFORE_MAX:]) or _NUMBER_BEHIND.match(text, end)):
                return True
            is_number.append(_A_NUMBER.fullmatch(word) is not None)
        return False


_BEFORE_MAX = 4
"""So many words before a noun its number may stand: "two of the old lead pipes"."""
_NUMBER_BEHIND = re.compile(rf"(?::|\s(?:numbered|totalled|were|are))\s*(?:{DIGITS}|{IN_WORDS})", re.IGNORECASE)
_A_NUMBER = re.compile(
    rf"{DIGITS}|{IN_WORDS}|no|none|several|few|many|some|both|dozens?|hundreds|thousands|pair|couple|half|single|every|most",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(r"\bhow many\b", re.IGNORECASE)
_ANYBODY = frozenset("people persons times things".split())
"""What is counted in any words: "an audience of 40"."""
_IRREGULAR = frozenset("men women children mice geese sheep fish feet teeth cattle".split())
_COUNTED_WORDS_MAX = 4


@dataclass(frozen=True)
class Doer:
    """Who did something. `verbs` are the stems of the verb's forms, `beginning` that of what somebody is called who does it."""

    name: str
    verbs: frozenset[str]
    beginning: str

    def is_told(self, text: str) -> bool:
        """Whether the text speaks of it at all: who did it is told in any words."""
        return any(stem(word) in self.verbs or word.startswith(self.beginning) for word in words(text))


_WHO = re.compile(r"\s*(?:and\s+)?who\b", re.IGNORECASE)


_LIGHT = frozenset("make makes made take takes took get gets got give gives gave".split())
"""Verbs that say by themselves nothing of what was done."""


def asked_count(question: str) -> Count | None:
    """The things whose number "how many" asks for: all up to a plural."""
    match = _HOW_MANY.search(question)
    said = list[str]()
    for word in words(question[match.end() :])[:_COUNTED_WORDS_MAX] if match else ():
        if word in STOP_WORDS or word in _ANYBODY:
            break
        said.append(word)
        if word in _IRREGULAR or (plural(singular(word)) == word and word.endswith("s")):
            return Count(f"number of {' '.join(said)}", stem(word))
    return None


def asked_doer(question: str) -> Doer | None:
    """Who is asked for by what they did: "who built the mill?"."""
    match = _WHO.match(question)
    said = words(question[match.end() :]) if match else []
    if len(said) < 2 or said[0] in STOP_WORDS or said[0] in _LIGHT:
        return None
    verb = said[0]
    forms = (verb, *other_forms(verb))
    return Doer(
        f"who {verb}", frozenset(map(stem, forms)), stem(forms[-1] if verb.endswith("t") else verb).rstrip("ei")
    )


def asked_quantity(question: str) -> Quantity | Count | None:
    """What a question asks for that is written in few ways; none where it asks for anything else."""
    quantity = next((each for each in QUANTITIES if each.is_asked(question)), None)
    return quantity or asked_count(question)
