"""What an answer is made from, as typed values: records that were found, its numbered sources and their texts, and the numbers of
a query. Pure, and linear in the length of the texts.
"""

from __future__ import annotations

import datetime
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from quarry.collections.reference_declarations import Quoting
from quarry.language.numerals import TOKEN, amounts_in, folded, roots_of, words_of
from quarry.language.tokens import sentence_spans
from quarry.language.writing import ENGLISH, writing_of
from quarry.platform.text import mark, shorten, unmark
from quarry.query.algebra import Cell
from quarry.query.contract import QueryResult
from quarry.query.phrases import number_of
from quarry.records.contract import AggregationEvent, CountedGroup, RecordKey, RecordType, Source

PROSE_WORDS_MIN = 12
"""A line with fewer words is a name or a field's value."""


@dataclass(frozen=True)
class Candidate:
    """A record that matched. `text_score` compares records of all types by their words, `similarity` (cosine) by meaning; None
    where that half did not find it. `is_apart`: it was found among those that meet the question's conditions alone.
    """

    type: RecordType
    id: str
    text_score: float | None
    similarity: float | None
    is_apart: bool = False
    by_words_alone: bool = False
    """Whether its type cannot be searched by meaning, while others are."""

    @property
    def key(self) -> RecordKey:
        return (self.type, self.id)


@dataclass(frozen=True)
class RecordText:
    """A record as a reader sees it. `snippet` marks matched words with MATCH_START and MATCH_END; `quoting` says how it
    is quoted.
    """

    type: RecordType
    id: str
    title: str
    body: str
    topic: str | None
    author: str | None
    date: datetime.date | None
    meeting_id: str | None
    url: str | None
    snippet: str
    quoting: Quoting = field(default_factory=Quoting)
    language: str = ENGLISH
    """The language of all records of its type."""

    @property
    def key(self) -> RecordKey:
        return (self.type, self.id)

    @property
    def is_prose(self) -> bool:
        """Whether it has a line of prose, not only values of fields."""
        return any(len(line.split()) >= PROSE_WORDS_MIN for line in self.body.split("\n"))


@dataclass(frozen=True)
class RankedRecord:
    """A record in the fused list over all types, with its rank in each half of the search."""

    key: RecordKey
    score: float
    text_rank: int | None
    semantic_rank: int | None
    similarity: float | None


SOURCES_MAX = 12
PASSAGE_CHARACTERS_MAX = 800


@dataclass(frozen=True)
class EvidenceSource:
    """One source: its number, what it says, its similarity (cosine) to the query that found it, and how well it ranked there,
    as a share of that search's best score.
    """

    n: int
    text: RecordText
    similarity: float | None
    weight: float

    def to_source(self) -> Source:
        return Source(
            n=self.n,
            type=self.text.type,
            id=self.text.id,
            title=shorten(self.text.title, 200),
            snippet=mark(self.text.snippet),
            date=self.text.date,
            meeting_id=self.text.meeting_id,
            url=self.text.url,
            similarity=None if self.similarity is None else round(self.similarity, 4),
        )


def passage(text: RecordText, limit: int = PASSAGE_CHARACTERS_MAX) -> str:
    """What a model reads of a record: all of its text or, of a long one, its matched snippet and its beginning."""
    if len(text.body) <= limit:
        return text.body
    snippet = shorten(unmark(mark(text.snippet)), limit // 2)
    beginning = shorten(text.body, limit - len(snippet))
    return beginning if not snippet or snippet in beginning else f"{beginning}\n… {snippet} …"


@dataclass
class Evidence:
    """The numbered sources so far, at most `sources_max`."""

    sources_max: int = SOURCES_MAX
    sources: list[EvidenceSource] = field(default_factory=list)
    _known: dict[RecordKey, EvidenceSource] = field(default_factory=dict)

    def add(self, found: Iterable[tuple[RankedRecord, RecordText]]) -> list[EvidenceSource]:
        """The sources of these records, known or newly numbered, up to `sources_max` in all."""
        sources: list[EvidenceSource] = []
        best = 0.0
        for ranked, text in found:
            best = best or ranked.score
            source = self._known.get(text.key)
            if source is None and len(self.sources) < self.sources_max:
                share = ranked.score / best if best else 1.0
                source = EvidenceSource(len(self.sources) + 1, text, ranked.similarity, share)
                self.sources.append(source)
                self._known[text.key] = source
            if source is not None:
                sources.append(source)
        return sources

    def add_read(self, texts: Iterable[RecordText]) -> list[EvidenceSource]:
        """The sources for records that were read by their ids."""
        return self.add((RankedRecord(text.key, 1.0, None, None, None), text) for text in texts)


CHARACTERS_MAX = 20_000
"""Characters of a source that are read."""
QUOTE_CHARACTERS_MAX = 600
_PLACES_MAX = 20
"""Places of the same words that are checked."""
_DAY_IN_DIGITS = re.compile(r"(\d{1,4})([-./])(\d{1,2})\2(\d{1,4})")


class Passage(NamedTuple):
    """A sentence of a source: where it begins and ends, in characters and in words."""

    start: int
    end: int
    first: int
    last: int


class SourceText:
    """A source's text, split into words and sentences when first needed."""

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
        """The places of each of its words."""
        placed: dict[str, list[int]] = {}
        for place, word in enumerate(self.words):
            placed.setdefault(word, []).append(place)
        return placed

    @cached_property
    def said(self) -> frozenset[str]:
        """The roots of its words, for comparison. A day in digits also counts as written out."""
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
        """The places of these words in a row."""
        looked_for, at = f" {' '.join(words)} ", -1
        for _ in range(_PLACES_MAX):
            at = self._joined.find(looked_for, at + 1)
            if at < 0:
                return
            yield self._joined.count(" ", 0, at)

    def sentences_of(self, first: int, last: int) -> tuple[int, int]:
        """Where the sentences around the words from `first` to before `last` begin and end, within QUOTE_CHARACTERS_MAX."""
        start, end = self.starts[first], self.end_of(last - 1)
        begin = max(0, start - QUOTE_CHARACTERS_MAX)
        # splitting every quoted source into sentences would take half of the time
        spans = sentence_spans(self.body[begin : end + QUOTE_CHARACTERS_MAX])
        overlapping = [span for span in spans if span[0] + begin < end and span[1] + begin > start]
        return overlapping[0][0] + begin, overlapping[-1][1] + begin

    def undated(self, words: Sequence[str]) -> list[str]:
        """The words without the record's own date."""
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


GROUPS_MAX = 50


def aggregation_of(results: Sequence[QueryResult]) -> AggregationEvent | None:
    """The event for the first query with numbers; None where no query has any."""
    asked = (each for each in results if each.query.aggregate)
    return next(map(_event, asked), None)


def _event(result: QueryResult) -> AggregationEvent:
    query, names = result.query, [each.name for each in result.columns]
    keys = len(query.group)
    measures = {name: place for place, name in enumerate(names) if place >= keys and name != "count"}
    of = next(iter(measures), None)
    first = result.rows[0] if result.rows else []
    is_of_time = keys == 1 and query.group[0].period is not None and query.limit is None
    shown = result.rows[-GROUPS_MAX:] if is_of_time else result.rows[:GROUPS_MAX]
    groups = [_group(row, names, keys, measures) for row in shown] if keys else []
    return AggregationEvent(
        by=", ".join(names[:keys]) or None,
        groups=groups,
        group_count=len(result.rows) if keys else 0,
        total=result.total,
        other=max(0, result.total - sum(each.count for each in groups)) if "count" in names and keys else 0,
        of=of,
        value=_number(first[measures[of]]) if of and not keys and first else None,
        filters={chip.pointer: chip.label for chip in result.filters},
        query=query,
        sentence=result.sentence,
    )


def _group(row: Sequence[Cell], names: Sequence[str], keys: int, measures: dict[str, int]) -> CountedGroup:
    value = row[0] if keys == 1 and not isinstance(row[0], list) else ", ".join(map(str, row[:keys]))
    count = row[names.index("count")] if "count" in names else None
    numbers = {name: _number(row[place]) for name, place in measures.items()}
    return CountedGroup.model_validate({"value": value, "count": count if isinstance(count, int) else 0, **numbers})


def _number(cell: Cell) -> float | str | None:
    """A number; one that no number of JSON has exactly as text."""
    if isinstance(cell, str):
        return cell if number_of(cell) is not None else None
    return float(cell) if isinstance(cell, int | float) else None
