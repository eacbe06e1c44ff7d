"""The words and numbers that a text says, as they are compared with those of another. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Protocol

from quarry.language.numerals import DIGITS, IN_WORDS, SCALE, numeral_value, scale_value
from quarry.language.sentences import sentence_spans
from quarry.language.stemming import stem

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
"""What a line of a list, a quotation or a heading begins with."""


def words_of(text: str) -> list[str]:
    """The words and numbers of a text, as they are compared."""
    return folded(TOKEN.findall(text))


def folded(tokens: Sequence[str]) -> list[str]:
    """Tokens as they are compared."""
    # all at once: one by one takes three times as long
    joined = "\n".join(tokens).lower().replace("’", "'").replace("–", "-").replace("−", "-")
    return joined.replace(" ", "").replace("\u00a0", "").split("\n") if tokens else []


def is_number(word: str) -> bool:
    """Whether a token is a number in digits."""
    return word.lstrip(_SIGNS)[:1].isdigit()


def roots_of(word: str) -> tuple[str, ...]:
    """What a word is compared by where it need not be the same: its stem, or the number without its signs, a range of two."""
    if word.isalpha() or not is_number(word):
        return (stem(word),)
    if attached := _DAY_OR_UNIT.fullmatch(word):
        return (attached[1],)
    return tuple(_BETWEEN_NUMBERS.split(_BETWEEN_THOUSANDS.sub("", word.strip(_SIGNS))))


def amounts_in(text: str) -> frozenset[float]:
    """The numbers of a text, in digits or in words."""
    values = (numeral_value(each.group()) for each in _NUMERALS.finditer(text))
    return frozenset(value for value in values if value is not None)


class Said(Protocol):
    """A text: what its words are compared by, and its numbers."""

    @property
    def said(self) -> Collection[str]: ...
    @property
    def amounts(self) -> Collection[float]: ...


def is_amount_of(word: str, behind: str, text: Said) -> bool:
    """Whether a text has a number, in digits or in words; `behind` is the word behind it, which may multiply it."""
    if all(root in text.said for root in roots_of(word)):
        return True
    amount = numeral_value(word.strip(_SIGNS))
    return amount is not None and not {amount, amount * scale_value(behind)}.isdisjoint(text.amounts)


@dataclass(frozen=True)
class SaidText:
    """A text as `Said`, read as far as is asked for."""

    text: str

    @cached_property
    def said(self) -> frozenset[str]:
        return frozenset(root for word in {*words_of(self.text)} for root in roots_of(word))

    @cached_property
    def amounts(self) -> frozenset[float]:
        return amounts_in(self.text)


def sentences_with_own_numbers(answer: str, text: SaidText) -> list[str]:
    """The sentences of an answer that have a number which the text has not."""
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
