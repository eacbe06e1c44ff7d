"""What of a kind a question asks for – an age, a price, a weight, a length, a date, a reason, a number of things – and whether a
text tells one. Pure.

Only what is written in few ways can be missed: where is told in any words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from quarry.language.nouns import is_plural
from quarry.language.numerals import DIGITS, IN_WORDS
from quarry.language.stemming import stem
from quarry.platform.text import STOP_WORDS, placed_words, words


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

MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_MONTHS = f"{MONTHS}|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec"
_A_NUMERAL = rf"(?:{DIGITS}|{IN_WORDS})"
_TIME = (
    # "may" is a month in capitals, or before a day
    rf"\b(?:{_MONTHS})\b\.? ?\d|\b(?-i:{_MONTHS})\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b[12]\d{{3}}\b|"
    r"\d[:.]\d\d\b|\d{1,2}/\d{1,2}\b|\b(?:"
    r"spring|summer|autumn|winter|noon|midnight|midday|dawn|dusk|sunrise|sunset|dark|daily|nightly|weekly|monthly|yearly|annually|"
    r"today|tonight|yesterday|tomorrow|ago|o'clock|[ap]\.?m|now|soon|immediately|weekends?|evenings?|mornings?|afternoons?|nights?|"
    r"century|holidays?|christmas|easter|birthday|anniversary|\d{1,2}(?:st|nd|rd|th)|"
    r"until|till|when|whenever|once|as soon as|before|after|during|while|"
    rf"(?:last|next|this|that|each|every|first|second|third|same|following|previous) (?:\w+ )?(?:{_TIMES})|"
    rf"(?:{_TIMES}) (?:later|earlier)|(?:in|within) (?:{_A_NUMERAL}|an?|a few|several) (?:{_TIMES})|"
    rf"(?:at|by|past|to|from|since) (?:about |around )?(?:half past |half )?{_A_NUMERAL}"
    r")\b"
)
_CAUSE = (
    r"\b(?:because|since|as|due|owing|thanks|so|reasons?|cause[ds]?|blame[ds]?|for|after|too|would|risk|lest|otherwise|"
    r"therefore|hence|instead|want(?:ed|s)?|need(?:ed|s)?|had|enough|unless|despite|without|cannot|"
    r"to (?!(?:an?|the|h[ie][rms]|its?|their|our|my|us|me|them)\b)[a-z]+)\b|[:;]|n['’]t\b"
)
_COLOURS = (
    r"\b(?:red|green|blue|yellow|white|black|gr[ea]y|brown|orange|purple|violet|pink|gold(?:en)?|silver|beige|cream|ivory|turquoise|"
    r"crimson|scarlet|navy|maroon|ochre|colou?r\w*|\w+ish|dark|light|pale|bright)\b"
)
_LONG = r"day|night|week(?:end)?|month|year|season|term|spring|summer|autumn|winter"

DATE = Quantity(
    "date or time",
    _any(r"^\s*(?:and\s+)?when\b|\b(?:what|which) (?:day|date|time|year|month|weekday)\b"),
    _any(_TIME),
)
REASON = Quantity(
    "reason",
    _any(r"^\s*(?:and\s+)?why\b|\bhow come\b|\bwhat (?:is|was) the (?:reason|cause)\b|^\s*what caused\b"),
    _any(_CAUSE),
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
            r"\bwhat (?:is|was|were|are) (?:(?!(?:of|with|about|in|on|for|to)\b)[\w'’]+ ){0,4}"
            r"(?:price|cost|fee|salary|fare|rent|fine|wage|budget)s?\b|"
            r"\bhow much\b[^,;?]{0,100}\b(?:costs?|pay|paid|pays|earns?|earned|spend|spent|charged?|charges)\b"
            r"|\bhow much (?:is|are|was|were) (?:the|an?|my|our|your|this|that)\b|\bhow much\b[^,;?]{0,100}\bworth\b"
            r"|\bhow expensive\b|\bwhat (?:do|does|did|will|would)\b[^,;?]{0,100}\b(?:cost|earn)\b(?! of)"
        ),
        _any(_MONEY),
    ),
    Quantity(
        "weight",
        _any(r"\bhow heavy\b|\b(?:how much|what)\b.{0,100}\bweigh(?:s|ed)?\b|\bweight of\b"),
        _any(_with_units(_WEIGHTS)),
    ),
    Quantity(
        "height, depth or width",
        _any(r"\bhow (?:tall|high|deep|wide|broad|thick)\b"),
        _any(rf"{_with_units(_LENGTHS)}|\d\s?(?:%|°)|\bpercent\b|\bdegrees\b|[$€£]\s?\d"),
    ),
    Quantity(
        "distance",
        _any(r"\bhow far\b"),
        _any(rf"{_with_units(_LENGTHS)}|{_with_units(_TIMES)}|\d"),
    ),
    Quantity(
        "duration or length",
        _any(r"\bhow long\b(?! ago)"),
        _any(
            rf"{_with_units(_TIMES)}(?! (?:later|ago|before|after|earlier)\b)|{_with_units(_LENGTHS)}|\b(?:until|till|since)\b|"
            rf"\b(?:from|between)\b[^.;]{{0,40}}\b(?:to|and)\b|\b[12]\d{{3}}\b|"
            rf"\b(?:all|the|this|that|whole|entire) (?:{_LONG})\b|\b(?:overnight|forever|permanent(?:ly)?|ever|centur(?:y|ies))\b"
        ),
    ),
    Quantity(
        "temperature",
        _any(r"\bhow (?:hot|cold|warm|cool)\b|\bwhat temperature\b"),
        _any(r"\d\s?(?:°|degrees|celsius|fahrenheit|[CF]\b)|\bdegrees?\b"),
    ),
    DATE,
    Quantity(
        "colour",
        _any(r"\bwhat colou?rs?\b"),
        _any(_COLOURS),
    ),
    REASON,
    Quantity(
        "telephone number",
        _any(r"\b(?:tele)?phone number\b"),
        _any(r"\+?\d[\d ()/.-]{5,20}\d"),
    ),
)


@dataclass(frozen=True)
class Count:
    """How many of something there are. `noun` is the stem of what it is called by, `behind` that of the word that comes next, if
    it says anything: "refused" of "how many horses refused?".
    """

    name: str
    noun: str
    behind: str = ""

    def is_told(self, text: str) -> bool:
        """Whether a number stands before the noun, or behind it and a colon or a verb, or in its place ("two refused")."""
        is_number, before = list[bool](), 0
        for word, start, end in placed_words(text):
            if _BOUND.search(text, before, start):
                is_number.clear()
            before = end
            if stem(word) == self.noun and (any(is_number[-_BEFORE_MAX:]) or _NUMBER_BEHIND.match(text, end)):
                return True
            if self.behind == stem(word) and any(is_number[-1:]):
                return True
            is_number.append(_A_NUMBER.fullmatch(word) is not None)
        return False


_BOUND = re.compile(r"[\n.;!?]")
"""A number belongs to nothing behind it."""
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


def asked_count(question: str) -> Count | None:
    """The things whose number "how many" asks for: all up to a plural."""
    match = _HOW_MANY.search(question)
    said = list[str]()
    following = words(question[match.end() :]) if match else []
    for place, word in enumerate(following[:_COUNTED_WORDS_MAX]):
        if word in STOP_WORDS or word in _ANYBODY:
            break
        said.append(word)
        if word in _IRREGULAR or is_plural(word):
            behind = next((stem(each) for each in following[place + 1 : place + 2] if each not in STOP_WORDS), "")
            return Count(f"number of {' '.join(said)}", stem(word), behind)
    return None


def asked_quantity(question: str) -> Quantity | Count | None:
    """What a question asks for that is written in few ways; none where it asks for anything else."""
    quantity = next((each for each in QUANTITIES if each.is_asked(question)), None)
    return quantity or asked_count(question)
