"""The two sides of a check: what a source says, read once, and the statements of an answer in Markdown, which are sentences, list
items and rows of tables, each with its place, what it cites and what it belongs to. Pure, and linear in the length of the texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence, Set
from dataclasses import dataclass, field
from difflib import Match
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from quarry.language.messages import gettext
from quarry.language.word_forms import STOP_WORDS, is_everyday, sentence_spans
from quarry.language.writing import LIST_MARK
from quarry.platform.text import significant_words, words
from quarry.spans.numbers import currency_code
from quarry.verification.values import ROUNDED_SHARE, Day, Number, Values, day_of, english, month_name, read_values
from quarry.verification.wire import SourceText

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
    """A part of a sentence, read when first needed."""

    text: str

    @cached_property
    def stems(self) -> frozenset[str]:
        return english().stems(self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(words(self.text))

    @cached_property
    def denied(self) -> frozenset[str]:
        """The words behind a negation."""
        wording, terms = english(), words(self.text)
        behind: set[str] = set()
        for place, word in enumerate(terms):
            if wording.denies(word) and word != "without":
                is_of_verb = wording.has("verb_negations", (word,)) or "'" in word
                reach = DENIED_WORDS_MAX if is_of_verb else DENIED_NOUN_WORDS_MAX
                behind.update(terms[place + 1 : place + 1 + reach])
        return frozenset(behind)

    @cached_property
    def denied_stems(self) -> frozenset[str]:
        return english().stems(" ".join(self.denied))


def clauses_of(text: str, ends: re.Pattern[str] = _CLAUSE) -> list[Clause]:
    """The parts of a text between these `ends`, else between commas, colons, brackets and full stops."""
    parts: list[str] = []
    for each in filter(str.strip, ends.split(text)):
        if parts and english().sets["negations"].issuperset(words(each)):
            parts[-1] += f": {each}"  # "Offer: none"
        else:
            parts.append(each)
    return [*map(Clause, parts)]


def parted(clause: Clause) -> list[Clause]:
    """The two parts of a clause around "and", where both say more than a name or a word of a list."""
    before, _, behind = clause.text.partition(" and ")
    one, two = Clause(before), Clause(behind)
    return [one, two] if len(one.stems) >= 2 and len(two.stems) >= 2 else [clause]


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
        if len(self.sources) != 1:
            return gettext("none of the sources cited")
        return gettext("source {number}", number=self.sources[0].n)

    def gettext(self, message: str, **values: object) -> str:
        """A reason that names it as `source`."""
        return gettext(message, source=self.name, **values)

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
        spans = []
        at = 0
        for line in self.body.split("\n"):
            spans += [(at + start, at + end) for start, end in sentence_spans(line)]
            at += len(line) + 1
        return spans or [(0, len(self.body))]

    @cached_property
    def sentences(self) -> list[Clause]:
        return [Clause(self.body[start:end]) for start, end in self.spans]

    @cached_property
    def windows(self) -> list[Window]:
        """Its sentences, and each with the next one."""
        windows = []
        for size in range(1, QUOTE_SENTENCES_MAX + 1):
            for first in range(len(self.spans) - size + 1):
                start, end = self.spans[first][0], self.spans[first + size - 1][1]
                stems = frozenset().union(*(self.sentences[each].stems for each in range(first, first + size)))
                windows.append(Window(start, end, self.body[start:end], stems))
        return windows

    @cached_property
    def parts(self) -> list[tuple[Clause, list[Clause]]]:
        """Its sentences and its title, each with its parts."""
        title = [Clause(self.head)] if self.head else []
        return [(each, clauses_of(each.text)) for each in (*self.sentences, *title)]

    @cached_property
    def clauses(self) -> list[Clause]:
        return [clause for _, clauses in self.parts for clause in clauses]

    def clauses_with(self, root: str, stems: frozenset[str]) -> list[Clause]:
        """The parts with a stem, of the sentences with it that have most of these stems."""
        candidates = [(len(each.stems & stems), clauses) for each, clauses in self.parts if root in each.stems]
        most = max((shared for shared, _ in candidates), default=0)
        return [each for shared, clauses in candidates if shared == most for each in clauses if root in each.stems]

    @cached_property
    def known_names(self) -> frozenset[str]:
        """The words with a capital behind another word or a comma, and those of its authors, in lower case."""
        within = re.finditer(r"(?<=[\w,;:)] )([^\W\d_a-zß-ÿ][\w’'&-]*)", self.all)
        names = [match[1].lower().removesuffix("’s").removesuffix("'s") for match in within]
        return frozenset(names) | frozenset(word.lower() for each in self.sources for word in NAME.findall(each.author))

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


def exchanges(
    mine: Sequence[str], theirs: Sequence[str], matches: Sequence[Match]
) -> Iterator[tuple[int, Sequence[str], Sequence[str], int]]:
    """What of one text stands in the place of what of another: where it begins, both, and how many words around them match."""
    for before, behind in pairwise([Match(0, 0, 0), *matches]):
        start, first = before.a + before.size, before.b + before.size
        one, other = mine[start : behind.a], theirs[first : behind.b]
        if one and other:
            yield start, one, other, before.size + behind.size


def folded(text: str) -> str:
    """The words of a text in lower case, with one space between them and around them."""
    return f" {' '.join(words(text))} "


class OtherEvidence(NamedTuple):
    """What else a statement that cites sources may take its values from: the results of queries."""

    has_number: Callable[[Number], bool]
    has_day: Callable[[Day], bool]
    has_name: Callable[[tuple[str, ...]], bool]


NO_OTHER_EVIDENCE = OtherEvidence(lambda number: False, lambda day: False, lambda name: False)


@dataclass
class Finding:
    """`wrong` contradicts the evidence or is not in it, `weak` is neither borne out nor contradicted; both as reasons in words.
    `is_denied`: the evidence says the opposite, which counts also where another source says so.
    """

    wrong: list[str] = field(default_factory=list)
    weak: list[str] = field(default_factory=list)
    denied: list[str] = field(default_factory=list)

    @property
    def rank(self) -> tuple[bool, int, int]:
        """The lower, the better does the evidence fit."""
        return (bool(self.wrong or self.denied), len(self.wrong) + len(self.denied), len(self.weak))

    @property
    def is_clean(self) -> bool:
        """Whether the evidence bears it out."""
        return not (self.wrong or self.weak or self.denied)

    def add(self, other: Finding) -> None:
        self.wrong += other.wrong
        self.weak += other.weak
        self.denied += other.denied


MARKERS = re.compile(r"(?:\[\d{1,3}\] ?)+")
QUOTED = re.compile(r"[“\"„«]([^“”\"„«»]{2,600})[”\"“»]|(?<!\w)[‘'](.{8,600}?)[’'](?!\w)")
_NUMBER = re.compile(r"\d{1,3}")
_RULE = re.compile(r"\s*\|?[\s|:-]*-[\s|:-]*\|?\s*")
_HEADING = re.compile(r"\s*(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*$|>?\s*$|(?:-{3,}|\*{3,})\s*$)")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_EMPHASIS = re.compile(r"\*\*|__|`")
_SPACES = re.compile(r"\s+")


class Part(NamedTuple):
    """What stands before a marker, with the sources that this names; or a cell, with its column's `header`."""

    text: str
    cited: Sequence[int]
    header: str = ""


@dataclass(frozen=True)
class Statement:
    """A statement at `answer[start:end]`. `lead` is what introduces it, such as the sentence before a list, with what that cites;
    `label` the first cell of a row. `parts` are judged one by one.
    """

    start: int
    end: int
    text: str
    parts: Sequence[Part]
    kind: str = "sentence"
    label: str = ""
    lead: str = ""
    before: str = ""
    cited: Sequence[int] = field(default_factory=tuple)


def plain(text: str) -> str:
    """A statement without markers and emphasis."""
    text = _EMPHASIS.sub("", MARKERS.sub(" ", LIST_MARK.sub("", text)))
    return _SPACES.sub(" ", text).replace(" .", ".").replace(" ,", ",").strip(" |")


def statements(answer: str) -> Iterator[Statement]:
    """The statements of an answer, in order. Headings, rules and code are none."""
    reader = _Reader(answer)
    at, is_code = 0, False
    lines = answer.split("\n")
    for number, line in enumerate(lines):
        start, at = at, at + len(line) + 1
        if _FENCE.match(line):
            is_code = not is_code
        elif is_code:
            continue
        elif line.lstrip().startswith("|"):
            behind = lines[number + 1] if number + 1 < len(lines) else ""
            yield from reader.row(start, line, is_header=_is_rule(behind))
        elif not line.strip():
            reader.headers = ()
        elif not _HEADING.match(line):
            yield from reader.line(start, line)


def _cited_in(text: str) -> list[int]:
    """The numbers of its markers."""
    return [int(number) for marker in MARKERS.findall(text) for number in _NUMBER.findall(marker)]


def _is_rule(line: str) -> bool:
    return "-" in line and _RULE.fullmatch(line) is not None


@dataclass
class _Reader:
    """Reads lines in order, and keeps what a later one belongs to."""

    answer: str
    lead: str = ""
    lead_sources: Sequence[int] = ()
    before: str = ""
    headers: Sequence[str] = ()
    is_listing: bool = False

    def line(self, start: int, line: str) -> Iterator[Statement]:
        mark = LIST_MARK.match(line)
        begin = mark.end() if mark else 0
        if not mark and self.is_listing:
            self.lead, self.lead_sources, self.is_listing = "", (), False
        self.is_listing = bool(mark)
        for first, last in sentence_spans(line[begin:]):
            raw = line[begin + first : begin + last]
            if not MARKERS.sub("", raw).strip(" *_.:"):
                continue
            statement = self._sentence(start + begin + first, raw, is_item=bool(mark))
            yield statement
            self.before = statement.text
            if raw.rstrip(" *_").endswith(":"):
                self.lead, self.lead_sources = statement.text, statement.cited

    def _sentence(self, start: int, raw: str, *, is_item: bool) -> Statement:
        parts: list[Part] = []
        begin = 0
        for marker in MARKERS.finditer(raw):
            sentence, begin = raw[begin : marker.start()], marker.end()
            text = plain(sentence) if len(significant_words(sentence)) > 1 or _NUMBER.search(sentence) else plain(raw)
            parts.append(Part(text, [*map(int, _NUMBER.findall(marker.group()))]))
        rest = plain(raw[begin:]).strip(" .,;:)")
        if not parts or len(significant_words(rest)) > 1:
            parts.append(Part(plain(raw[begin:]), self.lead_sources if is_item and not parts else ()))
        cited = [number for part in parts for number in part.cited]
        return Statement(
            start, start + len(raw), plain(raw), parts, "item" if is_item else "sentence",
            lead=self.lead if is_item else "", before=self.before, cited=cited,
        )  # fmt: skip

    def row(self, start: int, line: str, *, is_header: bool) -> Iterator[Statement]:
        if _is_rule(line):
            return
        raw = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if is_header:
            self.headers = [plain(cell) for cell in raw]
            return
        everywhere = _cited_in(line)
        parts: list[Part] = []
        for place, cell in enumerate(raw):
            header = self.headers[place] if place < len(self.headers) else ""
            if plain(cell):
                parts.append(Part(plain(cell), _cited_in(cell) or everywhere or self.lead_sources, header))
        if parts:
            yield Statement(
                start, start + len(line), ", ".join(part.text for part in parts), parts, "row", label=parts[0].text,
                lead=self.lead, before=self.before, cited=everywhere,
            )  # fmt: skip


_RUN = re.compile(rf"(?:{NAME.pattern})(?:[ -](?:(?:de|van|von|der|of the|of|and the|&) )?(?:{NAME.pattern}))*")
_INSIDE = re.compile(r"[\w,;:)\]–-]\s$|[(“\"„]$")
_CLITIC = re.compile(r"['’][a-z]{0,2}$")


def names_in(text: str, known_names: Set[str]) -> Iterator[tuple[str, ...]]:
    """The names in a text, each as its words in lower case: words with a capital, without one that only begins a sentence. A word
    that begins one is part of a name if it is in `known_names`, or no common word.
    """
    if not any(letter.isupper() for letter in text):
        return
    for match in _RUN.finditer(text):
        words = [_CLITIC.sub("", word) for word in re.split(r"[ -]", match.group()) if not any(map(str.isdigit, word))]
        if not words:
            continue
        begins = not _INSIDE.search(text[: match.start()])
        first = words[0].lower()
        if begins and first not in known_names and (first in STOP_WORDS or is_everyday(first) or len(words) == 1):
            words = words[1:] if first in STOP_WORDS or is_everyday(first) else words
        name = tuple(
            word.lower() for word in words if word and word.lower() not in _NO_NAMES and not currency_code(word.lower())
        )
        if name and not (len(name) == 1 and len(name[0]) == 1):
            yield name


_NO_NAMES = frozenset("i mr mrs ms dr prof q1 q2 q3 q4 of the and van von de der & a.m p.m".split())


def has_name(name: tuple[str, ...], folded: str, words: Collection[str]) -> bool:
    """Whether a text has a name: all of its words that are no common ones or, where it has only common ones, all. One that ends
    in a letter ("Building C") stands there as a whole.
    """
    if len(name) > 1 and len(name[-1]) == 1:
        return f" {' '.join(name)} " in folded
    parts = [part for word in name for part in re.split(r"[-.&’']", word) if part]
    rare = [part for part in parts if not is_everyday(part)] or parts
    return all(part in words or f"{part}s" in words or part.removesuffix("s") in words for part in rare)


def display_name(name: tuple[str, ...]) -> str:
    """A name as a reason writes it."""
    return " ".join(word.capitalize() for word in name)
