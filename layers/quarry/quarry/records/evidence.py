"""What an answer is made from, as typed values: records that were found, its numbered sources and their texts, and the numbers
of a query. Pure, and linear in the length of the texts.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from quarry.collections.declaration_parts import Quoting
from quarry.language.writing import ENGLISH
from quarry.platform.text import mark, shorten, unmark
from quarry.query.contract import QueryResult
from quarry.query.describe import reckoned
from quarry.records.contract import AggregationEvent, RecordKey, RecordType, Source

PROSE_WORDS_MIN = 12
"""A line with fewer words is a name or a field's value."""


class RecordCandidate(NamedTuple):
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


class RankedRecord(NamedTuple):
    """A record in the fused list over all types, with its rank in each half of the search."""

    key: RecordKey
    score: float
    text_rank: int | None
    semantic_rank: int | None
    similarity: float | None


SOURCES_MAX = 12
PASSAGE_CHARACTERS_MAX = 800


class EvidenceSource(NamedTuple):
    """One source: its number, what it says, its similarity (cosine) to the query that found it, and how well it ranked there,
    as a share of that search's best score.
    """

    n: int
    text: RecordText
    similarity: float | None
    weight: float
    marked: str = ""
    """What is quoted of it, between MATCH_START and MATCH_END, with some text around; empty where nothing is."""

    def to_source(self) -> Source:
        return Source(
            n=self.n,
            type=self.text.type,
            id=self.text.id,
            title=shorten(self.text.title, 200),
            snippet=mark(self.marked or self.text.snippet),
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
class NumberedSources:
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


def aggregation_of(results: Sequence[QueryResult]) -> AggregationEvent | None:
    """The event for the first query with numbers; None where no query has any."""
    results_asked = (each for each in results if each.query.last.aggregate)
    return next(map(_event, results_asked), None)


def _event(result: QueryResult) -> AggregationEvent:
    filters = {chip.pointer: chip.label for chip in result.filters}
    return AggregationEvent(**reckoned(result), filters=filters, query=result.query, sentence=result.sentence)
