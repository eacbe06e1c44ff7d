"""The statements of an answer in Markdown: sentences, list items, and rows of tables, each with its place, what it cites and what
it belongs to; and the names in them. Pure, and linear in the length of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from quarry.language.word_forms import STOP_WORDS, is_everyday, sentence_spans
from quarry.language.writing import LIST_MARK
from quarry.platform.text import significant_words
from quarry.spans.numbers import currency_code
from quarry.verification.passages import NAME


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
            reader.end_of_paragraph()
        elif not _HEADING.match(line):
            yield from reader.line(start, line)


def _is_rule(line: str) -> bool:
    return "-" in line and _RULE.fullmatch(line) is not None


@dataclass
class _Reader:
    """Reads lines in order, and keeps what a later one belongs to."""

    answer: str
    lead: str = ""
    led: Sequence[int] = ()
    before: str = ""
    headers: Sequence[str] = ()
    is_listing: bool = False

    def end_of_paragraph(self) -> None:
        self.headers = ()

    def line(self, start: int, line: str) -> Iterator[Statement]:
        mark = LIST_MARK.match(line)
        begin = mark.end() if mark else 0
        if not mark and self.is_listing:
            self.lead, self.led, self.is_listing = "", (), False
        self.is_listing = bool(mark)
        for first, last in sentence_spans(line[begin:]):
            raw = line[begin + first : begin + last]
            if not MARKERS.sub("", raw).strip(" *_.:"):
                continue
            found = self._sentence(start + begin + first, raw, is_item=bool(mark))
            yield found
            self.before = found.text
            if raw.rstrip(" *_").endswith(":"):
                self.lead, self.led = found.text, found.cited

    def _sentence(self, start: int, raw: str, *, is_item: bool) -> Statement:
        parts: list[Part] = []
        begin = 0
        for marker in MARKERS.finditer(raw):
            sentence, begin = raw[begin : marker.start()], marker.end()
            text = plain(sentence) if len(significant_words(sentence)) > 1 or _NUMBER.search(sentence) else plain(raw)
            parts.append(Part(text, [*map(int, _NUMBER.findall(marker.group()))]))
        rest = plain(raw[begin:]).strip(" .,;:)")
        if not parts or len(significant_words(rest)) > 1:
            parts.append(Part(plain(raw[begin:]), self.led if is_item and not parts else ()))
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
        everywhere = [int(number) for marker in MARKERS.findall(line) for number in _NUMBER.findall(marker)]
        parts: list[Part] = []
        for place, cell in enumerate(raw):
            own = [int(number) for marker in MARKERS.findall(cell) for number in _NUMBER.findall(marker)]
            header = self.headers[place] if place < len(self.headers) else ""
            if plain(cell):
                parts.append(Part(plain(cell), own or everywhere or self.led, header))
        text = ", ".join(part.text for part in parts)
        label = parts[0].text if parts else ""
        if parts:
            yield Statement(
                start, start + len(line), text, parts, "row", label=label, lead=self.lead, before=self.before, cited=everywhere
            )  # fmt: skip


_RUN = re.compile(rf"(?:{NAME.pattern})(?:[ -](?:(?:de|van|von|der|of the|of|and the|&) )?(?:{NAME.pattern}))*")
_INSIDE = re.compile(r"[\w,;:)\]–-]\s$|[(“\"„]$")
_CLITIC = re.compile(r"['’][a-z]{0,2}$")


def names_in(text: str, known: Set[str]) -> Iterator[tuple[str, ...]]:
    """The names in a text, each as its words in lower case: words with a capital, without one that only begins a sentence. A word
    that begins one is part of a name if it is `known` as such, or no common word.
    """
    if not any(letter.isupper() for letter in text):
        return
    for match in _RUN.finditer(text):
        words = [_CLITIC.sub("", word) for word in re.split(r"[ -]", match.group()) if not any(map(str.isdigit, word))]
        if not words:
            continue
        begins = not _INSIDE.search(text[: match.start()])
        first = words[0].lower()
        if begins and first not in known and (first in STOP_WORDS or is_everyday(first) or len(words) == 1):
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


def named(name: tuple[str, ...]) -> str:
    """A name as a reason writes it."""
    return " ".join(word.capitalize() for word in name)
