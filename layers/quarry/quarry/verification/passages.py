"""What a source says, read once, and what is wrong with a statement by it. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from quarry.language.messages import gettext
from quarry.language.word_forms import sentence_spans
from quarry.platform.text import words
from quarry.spans.numbers import currency_code
from quarry.verification.values import ROUNDED_SHARE, Day, Number, Values, day_of, month_name, read_values
from quarry.verification.wire import SourceText
from quarry.verification.wording import english

CHARACTERS_MAX = 20_000
"""Characters of a source that are read."""
QUOTE_SENTENCES_MAX = 2
DENIED_WORDS_MAX, DENIED_NOUN_WORDS_MAX = 7, 3
"""How many words behind it a negation denies, within its clause: of a verb, and of a noun ("without the grant")."""
_CLAUSE = re.compile(r"[,;:()–—]\s|\s[–—|-]\s|\.\s|\n|\bbut\b|\bwhile\b|\bwhereas\b")
COLON = re.compile(r":\s")
NAME = re.compile(r"[^\W\d_a-zß-ÿ][\w’'&.-]*\w|[^\W\d_a-zß-ÿ]\b")


@dataclass(frozen=True)
class Clause:
    """A part of a sentence, with the stems and the words in it."""

    text: str
    stems: frozenset[str]
    words: frozenset[str]

    @cached_property
    def denied(self) -> frozenset[str]:
        """The words behind a negation."""
        wording, terms = english(), words(self.text)
        found: set[str] = set()
        for place, word in enumerate(terms):
            if wording.denies(word) and word != "without":
                reach = (
                    DENIED_WORDS_MAX if wording.has("verb_negations", (word,)) or "'" in word else DENIED_NOUN_WORDS_MAX
                )
                found.update(terms[place + 1 : place + 1 + reach])
        return frozenset(found)

    @cached_property
    def denied_stems(self) -> frozenset[str]:
        return english().stems(" ".join(self.denied))


def clauses_of(text: str, ends: re.Pattern[str] = _CLAUSE) -> list[Clause]:
    """The parts of a text between these `ends`, else between commas, colons, brackets and full stops."""
    wording = english()
    parts: list[str] = []
    for each in filter(str.strip, ends.split(text)):
        if parts and wording.sets["negations"].issuperset(words(each)):
            parts[-1] += f": {each}"  # "Offer: none"
        else:
            parts.append(each)
    return [Clause(each, wording.stems(each), frozenset(words(each))) for each in parts]


def parted(clause: Clause) -> list[Clause]:
    """The two parts of a clause around "and", where both say more than a name or a word of a list."""
    before, _, behind = clause.text.partition(" and ")
    wording = english()
    one, two = wording.stems(before), wording.stems(behind)
    if len(one) < 2 or len(two) < 2:
        return [clause]
    return [Clause(text, stems, frozenset(words(text))) for text, stems in ((before, one), (behind, two))]


class Window(NamedTuple):
    """One sentence of a source, or two in a row, at `body[start:end]`."""

    start: int
    end: int
    text: str
    stems: frozenset[str]


@dataclass
class Passage:
    """One source, or several as one, read when first needed."""

    sources: Sequence[SourceText]
    body: str = field(init=False)
    head: str = field(init=False)
    all: str = field(init=False)

    def __post_init__(self) -> None:
        self.body = "\n".join(each.body[:CHARACTERS_MAX] for each in self.sources)
        heads = (part for each in self.sources for part in (each.title, each.topic, each.author) if part)
        self.head = " . ".join(dict.fromkeys(heads))
        self.all = f"{self.head}\n{self.body}"

    @property
    def author(self) -> str:
        """Who says it, if one does."""
        return self.sources[0].author if len(self.sources) == 1 else ""

    @property
    def name(self) -> str:
        """How a reason names it."""
        return (
            gettext("source {number}", number=self.sources[0].n)
            if len(self.sources) == 1
            else gettext("none of the sources cited")
        )

    @cached_property
    def folded(self) -> str:
        """Its words in lower case, with one space between them and around them."""
        return folded(self.all)

    @cached_property
    def words(self) -> frozenset[str]:
        terms = self.folded.split()
        return frozenset((*terms, *(word[:-2] for word in terms if word.endswith("'s"))))

    @cached_property
    def stems(self) -> frozenset[str]:
        return english().stems(self.all)

    @cached_property
    def values(self) -> Values:
        return read_values(self.all)

    @cached_property
    def currencies(self) -> frozenset[str]:
        """The codes of the currencies that it names, beside a number or elsewhere."""
        beside = {each.unit for each in self.values.numbers if each.unit is not None and each.unit.isupper()}
        return frozenset(beside.union(filter(None, map(currency_code, self.words))))

    @cached_property
    def days(self) -> list[Day]:
        dated = [day_of(each.date) for each in self.sources if each.date is not None]
        return [*self.values.days, *dated]

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """Where its sentences and lines are in the body."""
        found = []
        at = 0
        for line in self.body.split("\n"):
            found += [(at + start, at + end) for start, end in sentence_spans(line)]
            at += len(line) + 1
        return found or [(0, len(self.body))]

    @cached_property
    def sentences(self) -> list[Clause]:
        wording = english()
        texts = [self.body[start:end] for start, end in self.spans]
        return [Clause(text, wording.stems(text), frozenset(words(text))) for text in texts]

    @cached_property
    def windows(self) -> list[Window]:
        """Its sentences, and each with the next one."""
        found = []
        for size in range(1, QUOTE_SENTENCES_MAX + 1):
            for first in range(len(self.spans) - size + 1):
                start, end = self.spans[first][0], self.spans[first + size - 1][1]
                stems = frozenset().union(*(self.sentences[each].stems for each in range(first, first + size)))
                found.append(Window(start, end, self.body[start:end], stems))
        return found

    @cached_property
    def parts(self) -> list[tuple[Clause, list[Clause]]]:
        """Its sentences and its title, each with its parts."""
        title = Clause(self.head, english().stems(self.head), frozenset(words(self.head)))
        return [(each, clauses_of(each.text)) for each in (*self.sentences, *([title] if self.head else []))]

    @cached_property
    def clauses(self) -> list[Clause]:
        return [clause for _, clauses in self.parts for clause in clauses]

    def clauses_with(self, root: str, stems: frozenset[str]) -> list[Clause]:
        """The parts with a stem, of the sentences with it that have most of these stems."""
        held = [(len(each.stems & stems), clauses) for each, clauses in self.parts if root in each.stems]
        most = max((shared for shared, _ in held), default=0)
        return [each for shared, clauses in held if shared == most for each in clauses if root in each.stems]

    @cached_property
    def known_names(self) -> frozenset[str]:
        """The words that are written with a capital within sentences, in lower case."""
        return names_within(self.all) | frozenset(
            word.lower() for each in self.sources for word in NAME.findall(each.author)
        )

    def window_of(self, stems: frozenset[str]) -> Window:
        """The passage with most of these stems; of two with as many, the shorter one."""
        return max(self.windows, key=lambda each: (len(each.stems & stems), each.start - each.end))

    def dated(self, day: Day) -> bool:
        """Whether it gives this date, or a part of it in two places."""
        if any(day.agrees(each) for each in self.days):
            return True
        has_year = day.year is None or any(each.year == day.year for each in self.days)
        has_month = (
            day.month is None
            or any(each.month == day.month for each in self.days)
            or month_name(day.month) in self.words
        )
        return day.day is None and has_year and has_month

    def same_as(self, number: Number, *, loose: bool) -> list[Number]:
        """Its numbers that a number may stand for."""
        numbers = self.values.numbers
        if number.is_fraction:
            return [
                each
                for each in numbers
                if (each.is_fraction and abs(each.value - number.value) < 0.01)
                or (each.is_percent and abs(each.value - 100 * number.value) <= 1)
            ]
        return [
            each
            for each in numbers
            if (
                any(number.is_near(value, loose=loose, rounds=ROUNDED_SHARE) for value in each.values)
                and (not number.is_percent or each.is_percent or (each.unit is None and "percent" in self.words))
            )
            or (number.is_percent and each.is_fraction and number.is_near(100 * each.value))
        ]


def folded(text: str) -> str:
    """The words of a text in lower case, with one space between them and around them."""
    return f" {' '.join(words(text))} "


def names_within(text: str) -> frozenset[str]:
    """The words with a capital behind another word or a comma, in lower case."""
    return frozenset(
        match[1].lower().removesuffix("’s").removesuffix("'s")
        for match in re.finditer(r"(?<=[\w,;:)] )([^\W\d_a-zß-ÿ][\w’'&-]*)", text)
    )


class Beside(NamedTuple):
    """What else a statement that cites sources may take its values from: the results of queries."""

    has_number: Callable[[Number], bool]
    has_day: Callable[[Day], bool]
    has_name: Callable[[tuple[str, ...]], bool]


NOWHERE = Beside(lambda number: False, lambda day: False, lambda name: False)
