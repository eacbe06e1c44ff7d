"""Numbers as people write them ("1,200", "5k", "two thousand"), and texts as words and numbers to compare. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Protocol

from quarry.language.tokens import sentence_spans, stem

_SMALL = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen".split()
    )
} | {
    word: 10 * number for number, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_SCALES = {
    "dozen": 12.0, "hundred": 1e2, "thousand": 1e3, "k": 1e3, "lakh": 1e5, "lac": 1e5, "l": 1e5, "million": 1e6, "mn": 1e6,
    "mm": 1e6, "m": 1e6, "mio": 1e6, "crore": 1e7, "cr": 1e7, "billion": 1e9, "bn": 1e9, "b": 1e9, "trillion": 1e12,
    "tn": 1e12,
}  # fmt: skip

_SMALL_WORD = f"(?:{'|'.join(sorted(_SMALL, key=len, reverse=True))})"
_SCALE_WORD = r"(?:hundred|thousand|million|billion|trillion|lakhs?|lacs?|crores?|dozen)"
DIGITS = r"(?:\d{1,3}(?>(?:,\d{2,3})+)(?:\.\d++)?|\d++(?:\.\d++)?)"
SCALE = rf"(?:(?:k|m|b|mn|mm|mio|bn|tn|cr)\b|\s{{0,2}}+(?:{_SCALE_WORD}|mn|mio|bn|tn|cr)\b)"
"""A suffix that multiplies the digits before it."""
NO_NUMERAL = (
    r"(?:\d{1,4}-\d{1,2}-\d{1,4}(?![\d.])|\d{1,4}/\d{1,2}/\d{1,4}(?!\d)|\d++(?:\.\d++){2,}"
    r"|\d{3}-\d{3}-\d{4}(?!\d)|\d++:\d++)"
)
"""Text with digits that is not a number: a date, a version, a telephone number, a time of day."""
IN_WORDS = (
    rf"(?:(?:half\s++)?an?\s++{_SCALE_WORD}\b|(?:(?:half\s++)?an?\s++{_SCALE_WORD}|{_SMALL_WORD})"
    rf"(?:[\s-]++(?:{_SMALL_WORD}|{_SCALE_WORD})\b|(?<=hundred)\s++and\s++{_SMALL_WORD}\b){{0,9}}\b)"
)

_NUMERAL = re.compile(rf"({DIGITS})({SCALE}|l\b)?", re.IGNORECASE)
NUMBER_MAX = 1e18
"""A larger number is a code: no column of whole numbers holds it."""
_HUNDREDS_MAX = 1000
_BESIDE = ("a", "an", "and")
"""Words that accompany number words,"""
_SAYS_NO_NUMBER = frozenset((*_BESIDE, "half"))
"""and are not numbers on their own."""


def number_words(least: int, most: int) -> dict[str, int]:
    """The single words for the whole numbers from `least` to `most`."""
    return {word: number for word, number in _SMALL.items() if least <= number <= most}


def numeral_value(text: str) -> float | None:
    """The number that `text` states; None if it is not one ("five six"), or larger than NUMBER_MAX."""
    text = text.strip().lower()
    if match := _NUMERAL.fullmatch(text):
        value = float(match[1].replace(",", "")) * scale_value(match[2] or "")
        return round(value, 6) if value <= NUMBER_MAX else None
    return _value_of_words(re.split(r"[\s-]+", text))


def scale_value(scale: str) -> float:
    """The factor that "k", "million" or "lakhs" stands for; 1 for the empty text."""
    word = scale.strip().lower()
    return _SCALES.get(word) or _SCALES.get(word.removesuffix("s"), 1.0)


def _value_of_words(words: list[str]) -> float | None:
    """Each word adds to the current group ("three hundred and five") or closes it ("thousand"). None for "a" alone."""
    total, group, before = 0.0, 0.0, ""
    if _SAYS_NO_NUMBER.issuperset(words):
        return None
    for word in words:
        if word in _SMALL:
            if not _may_follow(word, before):
                return None
            group += _SMALL[word]
        elif (scale := scale_value(word)) > 1:
            group = (group or 1.0) * scale * (0.5 if before == "half" else 1.0)
            if scale >= _HUNDREDS_MAX:
                total, group = total + group, 0.0
        elif word not in _SAYS_NO_NUMBER:
            return None
        # "half a million"
        before = before if word in _BESIDE else word
    return total + group


def _may_follow(word: str, before: str) -> bool:
    """Whether a number below a hundred may follow another number word: "twenty" after "hundred", "five" after "twenty"."""
    return before not in _SMALL or (_SMALL[before] >= 20 and 0 < _SMALL[word] < 10)


TOKEN = re.compile(
    r"(?:(?<![^\s(])[-−])?[$€£¥]?\d++(?>(?:[.,:/–-]\d{1,12}+){0,6})(?![^\W_])(?:[ \u00a0]?[%‰°])?"
    r"|[^\W_]+(?:['’][^\W_]+)*"
)
"""A number with its signs ("-5", "$3.4", "40 %", "7–2", "14:00"), or a word."""
_SIGNS = "$€£¥-%‰°"
_BETWEEN_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_BETWEEN_NUMBERS = re.compile(r"[:/-]")
_DAY_OR_UNIT = re.compile(r"(\d{1,2})[^\W\d_]{2}")
"""A day as an ordinal ("5th", "1er"), or a number with its unit ("10km"): compared by the number."""
_NUMERALS = re.compile(rf"{DIGITS}(?:{SCALE})?|\b{IN_WORDS}", re.IGNORECASE)
LIST_MARK = re.compile(r"^\s*(?:[-*+>#]+|\d+[.)])\s+")
"""The start of a list item, quotation or heading."""


def words_of(text: str) -> list[str]:
    """The words and numbers of a text, in the form used for comparison."""
    return folded(TOKEN.findall(text))


def folded(tokens: Sequence[str]) -> list[str]:
    """Tokens in the form used for comparison."""
    # one call for all tokens is three times faster than one per token
    joined = "\n".join(tokens).lower().replace("’", "'").replace("–", "-").replace("−", "-")
    return joined.replace(" ", "").replace("\u00a0", "").split("\n") if tokens else []


def is_number(word: str) -> bool:
    """Whether a token is a number in digits."""
    return word.lstrip(_SIGNS)[:1].isdigit()


def roots_of(word: str) -> tuple[str, ...]:
    """The looser forms that match a word: its stem, or a number without its signs, a range as two numbers."""
    if word.isalpha() or not is_number(word):
        return (stem(word),)
    if attached := _DAY_OR_UNIT.fullmatch(word):
        return (attached[1],)
    return tuple(_BETWEEN_NUMBERS.split(_BETWEEN_THOUSANDS.sub("", word.strip(_SIGNS))))


def amounts_in(text: str) -> frozenset[float]:
    """The numbers in a text, in digits or words."""
    values = (numeral_value(each.group()) for each in _NUMERALS.finditer(text))
    return frozenset(value for value in values if value is not None)


class Said(Protocol):
    """A text: the forms its words are compared by, and its numbers."""

    @property
    def said(self) -> Collection[str]: ...
    @property
    def amounts(self) -> Collection[float]: ...


def is_amount_of(word: str, behind: str, text: Said) -> bool:
    """Whether a text contains a number, in digits or words. `behind` is the next word, which may multiply it."""
    if all(root in text.said for root in roots_of(word)):
        return True
    amount = numeral_value(word.strip(_SIGNS))
    return amount is not None and not {amount, amount * scale_value(behind)}.isdisjoint(text.amounts)


@dataclass(frozen=True)
class SaidText:
    """A text as `Said`, computed on demand."""

    text: str

    @cached_property
    def said(self) -> frozenset[str]:
        return frozenset(root for word in {*words_of(self.text)} for root in roots_of(word))

    @cached_property
    def amounts(self) -> frozenset[float]:
        return amounts_in(self.text)


def sentences_with_own_numbers(answer: str, text: SaidText) -> list[str]:
    """The sentences of an answer with a number that the text does not contain."""
    said = (LIST_MARK.sub("", line) for line in answer.splitlines())
    return [
        sentence
        for line in said
        for sentence in (line[start:end] for start, end in sentence_spans(line))
        if any(
            is_number(word) and not is_amount_of(word, behind, text)
            for word, behind in pairwise([*words_of(sentence), ""])
        )
    ]
