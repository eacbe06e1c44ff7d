"""The text of a source as an answer is held against it: its words with their places, its sentences, its dates. Pure, and linear
in the length of the text.
"""

from __future__ import annotations

import datetime
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from quarry.language.numerals import TOKEN, amounts_in, folded, roots_of, words_of
from quarry.language.tokens import sentence_spans
from quarry.language.writing import ENGLISH, writing_of
from quarry.records.candidates import RecordText

CHARACTERS_MAX = 20_000
"""Characters of a source that are read."""
QUOTE_CHARACTERS_MAX = 600
_PLACES_MAX = 20
"""Places of the same words that are looked at."""
_DAY_IN_DIGITS = re.compile(r"(\d{1,4})([-./])(\d{1,2})\2(\d{1,4})")


class Passage(NamedTuple):
    """A sentence of a source: where it begins and ends, in characters and in words."""

    start: int
    end: int
    first: int
    last: int


class SourceText:
    """A source, read once, and as far as is asked for."""

    def __init__(self, text: RecordText) -> None:
        self.body = text.body[:CHARACTERS_MAX]
        self.title = words_of(text.title)
        named = words_of(" ".join(filter(None, (text.topic, text.author, str(text.date.year) if text.date else ""))))
        self.beside = frozenset(root for word in (*self.title, *named) for root in roots_of(word))
        self.dates = _written(text)
        tokens = [*TOKEN.finditer(self.body)]
        self.words = folded([token.group() for token in tokens])
        self.starts = [token.start() for token in tokens]
        self._tokens = tokens
        self._joined = f" {' '.join(self.words)} "

    @classmethod
    def of_text(cls, body: str) -> SourceText:
        """A text that is no record."""
        return cls(RecordText("", "", "", body, None, None, None, None, None, ""))

    def end_of(self, place: int) -> int:
        """Where a word ends."""
        return self._tokens[place].end()

    @cached_property
    def placed(self) -> Mapping[str, list[int]]:
        """Where each of its words stands."""
        placed: dict[str, list[int]] = {}
        for place, word in enumerate(self.words):
            placed.setdefault(word, []).append(place)
        return placed

    @cached_property
    def said(self) -> frozenset[str]:
        """What its words are compared by. A day in digits counts as written out too."""
        days = spelled([word for word in self.placed if _DAY_IN_DIGITS.fullmatch(word)])
        return self.beside.union(*map(roots_of, self.placed), *map(roots_of, days))

    @cached_property
    def amounts(self) -> frozenset[float]:
        """Its numbers, in digits or in words."""
        return amounts_in(self.body)

    @cached_property
    def passages(self) -> list[Passage]:
        """Its sentences that have words, in order."""
        spans = (
            (start, end, *(bisect_left(self.starts, at) for at in (start, end)))
            for start, end in sentence_spans(self.body)
        )
        return [Passage(*span) for span in spans if span[2] < span[3]]

    @cached_property
    def firsts(self) -> list[int]:
        """The first words of its sentences."""
        return [passage.first for passage in self.passages]

    def places(self, words: Sequence[str]) -> Iterator[int]:
        """Where these words stand in a row."""
        looked_for, at = f" {' '.join(words)} ", -1
        for _ in range(_PLACES_MAX):
            at = self._joined.find(looked_for, at + 1)
            if at < 0:
                return
            yield self._joined.count(" ", 0, at)

    def sentences_of(self, first: int, last: int) -> tuple[int, int]:
        """Where the sentences begin and end that the words from `first` to before `last` are of, as far as is looked."""
        start, end = self.starts[first], self.end_of(last - 1)
        begin = max(0, start - QUOTE_CHARACTERS_MAX)
        # not all sentences: those of every source that is quoted would take half of the time
        spans = sentence_spans(self.body[begin : end + QUOTE_CHARACTERS_MAX])
        overlapping = [span for span in spans if span[0] + begin < end and span[1] + begin > start]
        return overlapping[0][0] + begin, overlapping[-1][1] + begin

    def undated(self, words: Sequence[str]) -> list[str]:
        """The words but for the record's own date."""
        left = [*words]
        for date in self.dates:
            for at in range(len(left) - len(date), -1, -1):
                if left[at : at + len(date)] == date:
                    del left[at : at + len(date)]
        return left


def spelled(words: Iterable[str]) -> list[str]:
    """The words with each day in digits ("2024-03-05", "05.03.2024") as "5 march 2024"."""
    return [each for word in words for each in _day(word)]


def _day(word: str) -> list[str]:
    found = _DAY_IN_DIGITS.fullmatch(word)
    if found is None:
        return [word]
    first, sign, middle, last = found.groups()
    year, month, day = (first, middle, last) if len(first) > 2 else (last, middle, first)
    if sign == "/" and int(middle) > 12:
        month, day = day, middle
    elif sign != "." and len(first) <= 2 and int(first) <= 12:
        return [word]  # either number may be the month
    try:
        return words_of(writing_of(ENGLISH).date(datetime.date(int(year), int(month), int(day))))
    except ValueError:
        return [word]


def _written(text: RecordText) -> list[list[str]]:
    """The ways to write the date of a record, the longest first."""
    if text.date is None:
        return []
    day, forms = text.date, {text.date.isoformat()}
    for writing in (writing_of(text.language), writing_of(ENGLISH)):
        month = writing.months[day.month - 1]
        forms |= {writing.date(day), writing.month_of(day)}
        forms |= {
            f"{month} {day.day}, {day.year}",
            f"{day.day} {month}",
            f"{month} {day.day}",
            f"{month[:3]} {day.day}, {day.year}",
        }
    return sorted(map(words_of, forms), key=len, reverse=True)
